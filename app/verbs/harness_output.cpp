// The three files have the same content for three kinds of reader.
#include "app/verbs/harness_output.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <fstream>

namespace onceward::app {

using harness::Report;
using harness::ReportEntry;

namespace {

std::string verdict_of(const Report& report) {
  if (!report.problem.empty()) return report.problem;
  if (!report.non_deterministic.empty()) return "not deterministic: " + report.non_deterministic;
  if (report.failure) return "VIOLATION of " + report.failure->violation.invariant;
  if (!report.unreached.empty()) return "never happened: " + report.unreached.front();
  return report.complete ? "hold" : "hold so far; the bound was not exhausted";
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

void print_entry(const ReportEntry& entry) {
  const Report& r = entry.report;
  std::printf("%-22s %llu of %llu schedules %s\n", r.scenario.c_str(),
              static_cast<unsigned long long>(r.schedules),
              static_cast<unsigned long long>(r.complete ? r.schedules : r.schedules + 1),
              verdict_of(r).c_str());
  std::printf(
      "%-22s %s up to %s; %llu executed, %llu cut at a state seen before; %llu crash points, "
      "%llu faults; %.2f s; per core %.0f schedules/s, %.0f of them run/s\n",
      "", r.engine.c_str(), harness::to_text(r.bound).c_str(),
      static_cast<unsigned long long>(r.executed), static_cast<unsigned long long>(r.cut),
      static_cast<unsigned long long>(r.counts.crash_points),
      static_cast<unsigned long long>(r.counts.faults()), r.seconds, r.per_second(r.schedules),
      r.per_second(r.executed + r.cut));
  if (!r.failure) return;
  std::printf("\nshortest schedule that fails, %zu choices: %s\nreplay: %s\n\n%s\n",
              harness::fault_count(r.failure->choices),
              harness::to_text(r.failure->choices).c_str(), entry.command.c_str(),
              harness::to_text(entry.failed).c_str());
}

std::string to_json(const std::vector<ReportEntry>& entries) {
  std::string text;
  for (const auto& entry : entries) {
    const Report& r = entry.report;
    boost::json::object o;
    o["scenario"] = r.scenario;
    o["engine"] = r.engine;
    o["bound"] = harness::to_text(r.bound);
    o["schedules"] = r.schedules;
    o["executed"] = r.executed;
    o["cut"] = r.cut;
    o["states"] = r.states;
    o["complete"] = r.complete;
    o["crash_points"] = r.counts.crash_points;
    o["faults"] = r.counts.faults();
    o["seconds"] = r.seconds;
    o["cpu_seconds"] = r.cpu_seconds;
    o["schedules_per_second"] = r.per_second(r.schedules);
    o["violations"] = r.failure ? 1 : 0;
    o["holds"] = r.holds();
    o["verdict"] = verdict_of(r);
    if (r.failure) {
      o["invariant"] = r.failure->violation.invariant;
      o["what"] = r.failure->violation.what;
      o["choices"] = harness::to_text(r.failure->choices);
      o["replay"] = entry.command;
    }
    text += boost::json::serialize(o) + "\n";
  }
  return text;
}

std::string to_junit(const std::vector<ReportEntry>& entries) {
  std::string cases;
  int failures = 0;
  for (const auto& entry : entries) {
    const Report& r = entry.report;
    cases += "  <testcase classname=\"harness." + r.engine + "\" name=\"" + xml(r.scenario) +
             "\" time=\"" + std::to_string(r.seconds) + "\"";
    if (r.holds() && r.complete) {
      cases += "/>\n";
      continue;
    }
    ++failures;
    cases += ">\n    <failure message=\"" + xml(verdict_of(r)) + "\">" +
             xml(entry.command + "\n" + harness::to_text(entry.failed)) +
             "</failure>\n  </testcase>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"onceward harness\" "
         "tests=\"" +
         std::to_string(entries.size()) + "\" failures=\"" + std::to_string(failures) + "\">\n" +
         cases + "</testsuite>\n";
}

Result<Unit> write_text(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::fputs(text.c_str(), stdout);
    return ok();
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) return fail(ErrorCode::io, "cannot write " + file + ": choose a file that can be made");
  return ok();
}

}  // namespace onceward::app

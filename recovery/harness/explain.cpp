// The same lanes twice: as characters and as an inline SVG.
#include <onceward/harness/explain.hpp>

#include <algorithm>
#include <cstdio>

namespace onceward::harness {
namespace {

constexpr int lanes = 5;
constexpr int lane_width = 10;
constexpr Lane all_lanes[lanes] = {Lane::caller, Lane::node_a, Lane::node_b, Lane::journal,
                                   Lane::provider};

std::string empty_lanes() {
  std::string line(static_cast<std::size_t>(lanes * lane_width), ' ');
  for (int i = 0; i < lanes; ++i) line[static_cast<std::size_t>(i * lane_width + 4)] = '|';
  return line;
}

std::string arrow_of(const TraceLine& step) {
  std::string line = empty_lanes();
  const int from = static_cast<int>(step.from) * lane_width + 4;
  const int to = static_cast<int>(step.to) * lane_width + 4;
  if (from == to) {
    line[static_cast<std::size_t>(from)] = step.is_fault ? 'X' : '*';
    return line;
  }
  for (int i = std::min(from, to) + 1; i < std::max(from, to); ++i) {
    line[static_cast<std::size_t>(i)] = '-';
  }
  line[static_cast<std::size_t>(from < to ? to - 1 : to + 1)] = from < to ? '>' : '<';
  return line;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, value < 10 ? "%.2f" : "%.0f", value);
  return buffer;
}

std::string drawing_of(const Replay& replay) {
  constexpr int row = 22;
  constexpr int column = 110;
  const int height = row * (static_cast<int>(replay.trace.size()) + 2);
  const auto x_of = [](Lane lane) { return std::to_string(static_cast<int>(lane) * column + 50); };
  std::string svg = "<svg role=\"img\" width=\"1180\" height=\"" + std::to_string(height) +
                    "\" font-size=\"12\" font-family=\"monospace\">";
  for (const Lane lane : all_lanes) {
    svg += "<text text-anchor=\"middle\" y=\"14\" x=\"" + x_of(lane) + "\">" +
           std::string(to_text(lane)) + "</text><line class=\"lane\" x1=\"" + x_of(lane) +
           "\" x2=\"" + x_of(lane) + "\" y1=\"20\" y2=\"" + std::to_string(height) + "\"/>";
  }
  int y = row + 14;
  for (const auto& step : replay.trace) {
    const std::string at = std::to_string(y);
    const std::string kind = step.is_fault ? "fault" : "step";
    if (step.from == step.to) {
      svg += "<circle class=\"" + kind + "\" r=\"4\" cx=\"" + x_of(step.from) + "\" cy=\"" + at +
             "\"/>";
    } else {
      svg += "<line class=\"" + kind + "\" x1=\"" + x_of(step.from) + "\" x2=\"" + x_of(step.to) +
             "\" y1=\"" + at + "\" y2=\"" + at + "\"/><circle class=\"" + kind +
             "\" r=\"3\" cx=\"" + x_of(step.to) + "\" cy=\"" + at + "\"/>";
    }
    svg += "<text class=\"" + kind + "\" x=\"540\" y=\"" + std::to_string(y + 4) + "\">" +
           escaped(step.text) + "<title>" + escaped(step.durable) + "</title></text>";
    y += row;
  }
  return svg + "</svg>";
}

}  // namespace

std::string to_text(const FaultBounds& bound) {
  std::string text;
  const auto add = [&text](int count, const char* one, const char* many) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + (count == 1 ? one : many);
  };
  add(bound.crashes, "crash", "crashes");
  add(bound.ambiguities, "unanswered commit", "unanswered commits");
  add(bound.duplicates, "duplicate command", "duplicate commands");
  add(bound.lost_replies, "lost reply", "lost replies");
  add(bound.provider_faults, "provider fault", "provider faults");
  add(bound.takeovers, "takeover", "takeovers");
  add(bound.switches, "switch of turn", "switches of turn");
  add(bound.permit_waits, "wait for a permit", "waits for a permit");
  return text.empty() ? "no fault" : text;
}

std::string to_text(const Replay& replay) {
  std::string text;
  for (const Lane lane : all_lanes) {
    std::string name(to_text(lane));
    name.resize(lane_width, ' ');
    text += name;
  }
  text += "\n";
  std::string durable;
  for (const auto& step : replay.trace) {
    text += arrow_of(step) + (step.is_fault ? "!! " : "   ") + step.text + "\n";
    if (step.durable == durable) continue;
    durable = step.durable;
    text += empty_lanes() + "     durable: " + durable + "\n";
  }
  if (replay.violation) {
    text += "\n" + replay.violation->invariant + ": " + replay.violation->says +
            "\nbroken: " + replay.violation->what + "\n";
  } else {
    text += "\nevery invariant holds\n";
  }
  return text;
}

std::string replay_command(const std::string& scenario, const Failure& failure,
                           const std::string& extra) {
  std::string line = "onceward harness replay --scenario " + scenario;
  if (!extra.empty()) line += " " + extra;
  return line + (failure.seed ? " --seed " + std::to_string(*failure.seed)
                              : " --choices " + to_text(failure.choices));
}

std::string to_html(const std::vector<ReportEntry>& entries, const std::string& title) {
  std::string html =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>" + escaped(title) +
      "</title><style>body{font:15px sans-serif;margin:2em;max-width:1200px}table{border-collapse:"
      "collapse}td,th{border:1px solid #bbb;padding:.3em .6em;text-align:left}.bad,.fault{color:"
      "#b00020}.good{color:#006b2d}line.step{stroke:#1a4f8b}line.fault{stroke:#b00020}line.lane{"
      "stroke:#ccc}circle.step{fill:#1a4f8b}circle.fault,text.fault{fill:#b00020}</style><h1>" +
      escaped(title) +
      "</h1><table><tr><th>scenario</th><th>bound</th><th>schedules</th><th>executed</th>"
      "<th>per core second</th><th>verdict</th></tr>";
  std::string details;
  for (const auto& [report, says, failed, command] : entries) {
    std::string verdict = report.holds() ? (report.complete ? "all hold" : "hold, incomplete") : "";
    if (report.failure) verdict = "violates " + report.failure->violation.invariant;
    if (!report.non_deterministic.empty()) verdict = report.non_deterministic;
    if (!report.problem.empty()) verdict = report.problem;
    for (const auto& label : report.unreached) verdict += "never reached: " + label + " ";
    html += "<tr><td>" + escaped(report.scenario) + " (" + report.engine + ")<td>" +
            escaped(to_text(report.bound)) + "<td>" + std::to_string(report.schedules) + "<td>" +
            std::to_string(report.executed) + "<td>" + number(report.per_second(report.schedules)) +
            "<td class=\"" + (report.holds() ? "good" : "bad") + "\">" + escaped(verdict) + "</tr>";
    details += "<h2>" + escaped(report.scenario) + "</h2><p>" + escaped(says) + "</p>";
    if (!report.failure) continue;
    details += "<p class=\"bad\"><b>" + escaped(report.failure->violation.invariant) +
               "</b>: " + escaped(report.failure->violation.says) + "<br>" +
               escaped(report.failure->violation.what) + "</p><pre>" + escaped(command) + "</pre>" +
               drawing_of(failed);
  }
  return html + "</table><p>Point at a step to see what was durable after it.</p>" + details +
         "</html>\n";
}

}  // namespace onceward::harness

// runs watch: follows a run to its end, also over restarts of the node.
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "app/verbs/client_verbs.hpp"
#include "app/verbs/node_verbs.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds look_every{500};
constexpr seconds line_every{10};
/// A node that is restarted comes back; one that does not is reported.
constexpr seconds unreachable_max{60};

std::int64_t integer_at(const json::object& object, json::string_view member) {
  const auto* value = object.if_contains(member);
  if (value == nullptr) return 0;
  if (const auto* number = value->if_int64()) return *number;
  return 0;
}

std::string progress_text(const NodeAnswer& answer) {
  const auto& run = answer.body.as_object();
  const auto total = integer_at(run, "customers");
  const auto done = integer_at(run, "covered");
  std::string text = answer.text_at("status") + "  " + std::to_string(done) + "/" +
                     std::to_string(total) + " customers";
  if (total > 0) text += " (" + std::to_string(done * 100 / total) + " %)";
  text += "  in progress " + answer.text_at("in_progress");
  const auto rate = answer.text_at("rows_per_minute");
  if (!rate.empty()) text += "  " + rate + "/min";
  const auto remaining = answer.text_at("remaining_s");
  if (!remaining.empty()) text += "  about " + remaining + " s left";
  const auto problem = answer.text_at("problem");
  if (!problem.empty()) text += "  problem: " + problem;
  return text;
}

/// One line that is rewritten on a terminal, otherwise a line now and then.
class Progress {
 public:
  explicit Progress(bool is_quiet)
      : is_quiet_(is_quiet), is_terminal_(isatty(STDERR_FILENO) != 0) {}

  void show(const std::string& text) {
    if (is_quiet_) return;
    if (is_terminal_) {
      std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
      has_line_ = true;
    } else if (Clock::now() >= next_line_) {
      std::fprintf(stderr, "%s\n", text.c_str());
      next_line_ = Clock::now() + line_every;
    }
  }
  void end() {
    if (has_line_) std::fputc('\n', stderr);
    has_line_ = false;
  }

 private:
  const bool is_quiet_;
  const bool is_terminal_;
  bool has_line_ = false;
  Clock::time_point next_line_{};
};

/// The exit code of a run that goes no further.
ExitCode exit_of_run(const NodeAnswer& answer) {
  if (answer.text_at("status") != "completed") return ExitCode::conflict;
  const auto& run = answer.body.as_object();
  std::int64_t billed = 0;
  if (const auto* by_status = run.if_contains("by_status"); by_status != nullptr) {
    if (const auto* counts = by_status->if_object()) {
      billed = integer_at(*counts, "completed") + integer_at(*counts, "waived");
    }
  }
  return billed == integer_at(run, "to_bill") ? ExitCode::ok : ExitCode::partial;
}

void print_result(const Source& source, const NodeAnswer& answer, const std::string& run) {
  if (source.json) return;
  std::printf("%s\n", progress_text(answer).c_str());
  const auto* by_status = answer.body.as_object().if_contains("by_status");
  if (by_status != nullptr && by_status->is_object()) {
    for (const auto& member : by_status->as_object()) {
      std::printf("  %-16s %s\n", std::string(member.key()).c_str(),
                  json::serialize(member.value()).c_str());
    }
  }
  if (exit_of_run(answer) != ExitCode::ok) {
    std::fprintf(stderr, "not everybody was billed; to see who:\n  onceward runs show %s\n",
                 run.c_str());
  }
}

}  // namespace

ExitCode runs_watch(const Source& source, const std::string& run) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  Progress progress(source.json);
  auto reached_at = Clock::now();
  std::string last_line;
  while (true) {
    auto answer = client->ask({.path = "/v1/runs/" + url_part(run)});
    const bool is_lost = !answer || answer->status >= 500;
    if (is_lost && Clock::now() - reached_at > unreachable_max) {
      progress.end();
      return answer ? tell_problem(source, *answer) : report(answer.error());
    }
    if (is_lost) {
      progress.show("the node does not answer; trying again");
    } else if (!answer->is_success() || !answer->body.is_object()) {
      progress.end();
      return tell_problem(source, *answer);
    } else {
      reached_at = Clock::now();
      progress.show(progress_text(*answer));
      const auto line = json::serialize(answer->body);
      if (source.json && line != last_line) {
        std::printf("%s\n", line.c_str());
        std::fflush(stdout);
        last_line = line;
      }
      if (answer->text_at("status") != "running") {
        progress.end();
        print_result(source, *answer, run);
        return exit_of_run(*answer);
      }
    }
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace onceward::app

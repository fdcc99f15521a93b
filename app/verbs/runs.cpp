// runs plan, start, list, show, pause, resume, cancel: all through a node.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "app/verbs/client_verbs.hpp"
#include "app/verbs/node_verbs.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;
using platform::HttpMethod;

constexpr std::chrono::minutes plan_timeout{10};

/// Asks; on success gives the answer to `print`, which is skipped for --json.
template <class Print>
ExitCode ask_and_print(const Source& source, NodeRequest request, Print&& print) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  auto answer = client->ask(std::move(request));
  if (!answer) return report(answer.error());
  if (!answer->is_success()) return tell_problem(source, *answer);
  if (!answer->body.is_object()) {
    std::fputs("onceward: the node's answer is no JSON object; is this a node?\n", stderr);
    return ExitCode::failed;
  }
  if (source.json) {
    std::printf("%s\n", json::serialize(answer->body).c_str());
    return ExitCode::ok;
  }
  print(*answer);
  return ExitCode::ok;
}

std::string totals_text(const json::object& plan) {
  std::string text;
  const auto* totals = plan.if_contains("totals");
  if (totals == nullptr || !totals->is_array()) return "nothing";
  for (const auto& total : totals->as_array()) {
    if (const auto* money = total.if_object())
      text += (text.empty() ? "" : ", ") + money_text(*money);
  }
  return text.empty() ? "nothing" : text;
}

void print_plan(const NodeAnswer& answer) {
  const auto& plan = answer.body.as_object();
  std::printf("plan       %s\nperiod     %s\ncustomers  %s\nto bill    %s (%s)\n",
              answer.text_at("plan").c_str(), answer.text_at("period").c_str(),
              answer.text_at("customers").c_str(), answer.text_at("to_bill").c_str(),
              totals_text(plan).c_str());
  if (const auto* skipped = plan.if_contains("skipped");
      skipped != nullptr && skipped->is_object()) {
    for (const auto& member : skipped->as_object()) {
      std::printf("skipped    %s: %s\n", json::serialize(member.value()).c_str(),
                  std::string(member.key()).c_str());
    }
  }
  std::fprintf(stderr,
               "nothing was started; to start it:\n  onceward runs start --period %s --plan %s\n",
               answer.text_at("period").c_str(), answer.text_at("plan").c_str());
}

void print_run(const NodeAnswer& answer) {
  for (const auto* member : {"id", "status", "period", "plan", "customers", "to_bill", "cursor",
                             "in_progress", "held", "started_at", "started_by", "why", "problem"}) {
    const auto text = answer.text_at(member);
    if (!text.empty()) std::printf("%-12s %s\n", member, text.c_str());
  }
}

Result<std::string> read_upload(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    return fail(ErrorCode::invalid_argument,
                "the customer file " + path + " cannot be read; give an existing CSV file");
  }
  return text.str();
}

/// What the start of a run would do, for the question before it: count and sum of the plan.
Result<std::string> start_question(const Source& source, const StartOptions& options) {
  auto client = NodeClient::open(source);
  if (!client) return Unexpected{std::move(client).error()};
  auto plan = client->ask({.path = "/v1/plans/" + url_part(options.plan)});
  if (!plan) return Unexpected{std::move(plan).error()};
  if (!plan->is_success() || !plan->body.is_object()) {
    return fail(ErrorCode::not_found,
                "there is no plan " + options.plan + "; make one with `onceward runs plan`");
  }
  return "Charge " + plan->text_at("to_bill") + " customers " +
         totals_text(plan->body.as_object()) + " for " + plan->text_at("period") + "?";
}

ExitCode start_now(const Source& source, const StartOptions& options) {
  json::object body{{"period", options.period}, {"dry_run", false}, {"plan", options.plan}};
  NodeRequest request{
      .method = HttpMethod::post, .path = "/v1/runs", .body = json::serialize(body)};
  std::string run;
  const auto code = ask_and_print(source, std::move(request), [&run](const NodeAnswer& answer) {
    run = answer.text_at("id");
    print_run(answer);
    std::fprintf(stderr, "to follow it:\n  onceward runs watch %s\n", run.c_str());
  });
  if (code != ExitCode::ok || !options.watch) return code;
  return runs_watch(source, run);
}

}  // namespace

ExitCode runs_plan(const Source& source, const PlanOptions& options) {
  NodeRequest request{.method = HttpMethod::post, .path = "/v1/runs"};
  request.timeout = plan_timeout;
  if (options.customers.empty()) {
    request.body = json::serialize(json::object{{"period", options.period}, {"dry_run", true}});
  } else {
    auto upload = read_upload(options.customers);
    if (!upload) return report(upload.error());
    request.body = std::move(*upload);
    request.path += "?dry_run=true&period=" + url_part(options.period);
    request.content_type = "text/csv";
  }
  return ask_and_print(source, std::move(request), print_plan);
}

ExitCode runs_start(const Source& source, const StartOptions& options) {
  if (!options.is_confirmed) {
    auto question = start_question(source, options);
    if (!question) return report(question.error());
    if (const auto stop = insist(*question, false)) return *stop;
  }
  return start_now(source, options);
}

ExitCode runs_list(const Source& source) {
  return ask_and_print(source, {.path = "/v1/runs"}, [](const NodeAnswer& answer) {
    const auto* runs = answer.body.as_object().if_contains("runs");
    if (runs == nullptr || !runs->is_array() || runs->as_array().empty()) {
      std::fputs("no run was ever started; begin with `onceward runs plan`\n", stderr);
      return;
    }
    for (const auto& run : runs->as_array()) {
      const NodeAnswer row{.status = 200, .text = "", .body = run};
      std::printf("%-30s %-10s %8s/%-8s %s\n", row.text_at("id").c_str(),
                  row.text_at("status").c_str(), row.text_at("cursor").c_str(),
                  row.text_at("customers").c_str(), row.text_at("started_at").c_str());
    }
  });
}

ExitCode runs_show(const Source& source, const std::string& run) {
  const auto shown = ask_and_print(source, {.path = "/v1/runs/" + url_part(run)}, print_run);
  if (shown != ExitCode::ok || source.json) return shown;
  return ask_and_print(
      source, {.path = "/v1/runs/" + url_part(run) + "/report", .timeout = plan_timeout},
      [](const NodeAnswer& answer) {
        const auto& body = answer.body.as_object();
        const auto* lines = body.if_contains("lines");
        if (lines == nullptr || !lines->is_array()) return;
        for (const auto& line : lines->as_array()) {
          const NodeAnswer row{.status = 200, .text = "", .body = line};
          std::printf("%-16s %s %s  %s\n", row.text_at("outcome").c_str(),
                      row.text_at("customer").c_str(), row.text_at("purpose").c_str(),
                      row.text_at("reason").c_str());
        }
      });
}

ExitCode runs_steer(const Source& source, const SteerOptions& options) {
  if (options.action == "cancel" && !options.is_confirmed &&
      !confirm("Cancel the run " + options.run + "? No further customer is asked.")) {
    return ExitCode::failed;
  }
  json::object body;
  if (!options.reason.empty()) body["reason"] = options.reason;
  NodeRequest request{.method = HttpMethod::post,
                      .path = "/v1/runs/" + url_part(options.run) + "/" + options.action,
                      .body = json::serialize(body)};
  return ask_and_print(source, std::move(request), print_run);
}

}  // namespace onceward::app

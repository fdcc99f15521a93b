// Routes of billing runs: plan, start, watch, steer. All of it blocks in the run service, hence on
// the slow pool.
#include <onceward/ingress/run_json.hpp>
#include <onceward/ingress/run_service.hpp>

#include "ingress/http/json_text.hpp"
#include "ingress/http/routes.hpp"
#include "ingress/http/url.hpp"

namespace onceward::ingress {

namespace {

/// Lines of a report in one answer; the counts cover all rows.
constexpr std::uint64_t report_lines_max = 10'000;

/// Runs `work` where it may block; it must answer.
void block_then(Services& services, const Answer& answer, std::function<void()> work) {
  if (services.slow_pool.post([work = std::move(work)](journal::JournalReader&) { work(); }))
    return;
  answer(error_answer({ErrorCode::busy, "too many plans and reports are waiting; ask again"}));
}

/// The service; null, and the call is answered, if this node has none.
RunService* service_for(Services& services, const Call& call) {
  if (services.ports.runs == nullptr) {
    call.answer(error_answer({ErrorCode::not_found, "this node has no billing runs"}));
  }
  return services.ports.runs;
}

/// The text is JSON already.
platform::HttpResponse json_text_answer(int status, std::string text) {
  return text_answer(status, "application/json", std::move(text) + "\n");
}

struct RunRequest {
  BillingPeriod period;
  bool dry_run = false;
  std::string plan;
};

Result<RunRequest> parse_run_request(const Call& call) {
  auto query = Query::parse(call.request.query, {});
  if (!query) return Unexpected{std::move(query).error()};
  auto object = parse_json_object(call.request.body);
  if (!object) return Unexpected{std::move(object).error()};
  JsonMembers members(*object);
  const auto period_text = members.required_text("period");
  const auto dry_run = members.optional_boolean("dry_run");
  RunRequest request;
  request.plan = members.optional_text("plan");
  if (auto finished = members.finish(); !finished) return Unexpected{finished.error()};
  auto period = BillingPeriod::parse(period_text);
  if (!period) return Unexpected{std::move(period).error()};
  request.period = std::move(*period);
  request.dry_run = dry_run.value_or(false);
  if (request.dry_run != request.plan.empty()) {
    return fail(ErrorCode::invalid_argument,
                "give \"dry_run\": true to plan, or the hash of an approved plan in \"plan\" to "
                "start its run, not both");
  }
  return request;
}

/// Period of an uploaded file, which can only be planned.
Result<BillingPeriod> parse_upload(const Call& call) {
  auto query = Query::parse(call.request.query, {"period", "dry_run"});
  if (!query) return Unexpected{std::move(query).error()};
  if (query->find("dry_run").value_or("") != "true") {
    return fail(ErrorCode::invalid_argument,
                "a customer file is planned first: send it with dry_run=true, look at the plan, "
                "then start the run by its hash");
  }
  if (!query->find("period")) {
    return fail(ErrorCode::invalid_argument, "period is missing in the query");
  }
  return BillingPeriod::parse(*query->find("period"));
}

bool is_csv(const platform::HttpRequest& request) {
  const auto type = platform::find_header(request.headers, "Content-Type").value_or("");
  return type.substr(0, type.find(';')) == "text/csv";
}

platform::HttpResponse plan_answer(const Result<journal::PlanSummary>& plan) {
  return plan ? json_text_answer(200, plan_json(*plan)) : error_answer(plan.error());
}

platform::HttpResponse started_answer(const Result<billing::RunTold>& told) {
  if (!told) return error_answer(told.error());
  auto response = json_text_answer(told->existed ? 200 : 201, run_json(told->run));
  add_header(response, "Location", "/v1/runs/" + percent_encode(told->run.id.value()));
  return response;
}

void upload_plan(RunService& runs, Services& services, Call call) {
  auto period = parse_upload(call);
  if (!period) return call.answer(bad_request(period.error()));
  // Shared because the work must be copyable; a file of customers is not copied for that.
  auto upload = std::make_shared<Call>(std::move(call));
  block_then(services, upload->answer, [&runs, upload, period = std::move(*period)] {
    upload->answer(plan_answer(runs.plan(upload->request.body, period, "the uploaded file")));
  });
}

using Steer = Result<billing::RunTold> (RunService::*)(std::string_view, const WhoAndWhy&);

Result<WhoAndWhy> parse_steering(const Call& call) {
  auto query = Query::parse(call.request.query, {});
  if (!query) return Unexpected{std::move(query).error()};
  WhoAndWhy actor{call.principal, ""};
  if (call.request.body.empty()) return actor;
  auto object = parse_json_object(call.request.body);
  if (!object) return Unexpected{std::move(object).error()};
  JsonMembers members(*object);
  actor.why = members.optional_text("reason");
  if (auto finished = members.finish(); !finished) return Unexpected{finished.error()};
  if (actor.why.size() > 500) return fail(ErrorCode::invalid_argument, "reason: at most 500 bytes");
  return actor;
}

void steer(Services& services, Call call, Steer action) {
  auto* runs = service_for(services, call);
  if (runs == nullptr) return;
  if (call.request.body.size() > json_bytes_max) return call.answer(too_large());
  auto actor = parse_steering(call);
  if (!actor) return call.answer(bad_request(actor.error()));
  block_then(
      services, call.answer,
      [runs, action, id = call.segments[2], actor = std::move(*actor), answer = call.answer] {
        const auto told = (runs->*action)(id, actor);
        answer(told ? json_text_answer(200, run_json(told->run)) : error_answer(told.error()));
      });
}

bool was_billed(const ReportLine& line) {
  return line.outcome == to_text(ObligationStatus::completed) ||
         line.outcome == to_text(ObligationStatus::waived);
}

platform::HttpResponse report_answer(RunService& runs, const std::string& id, bool all) {
  std::string lines;
  std::uint64_t count = 0;
  bool is_cut = false;
  const auto summary = runs.report(id, [&](const ReportLine& line) {
    if (!all && was_billed(line)) return true;
    if (count == report_lines_max) {
      is_cut = true;
      return true;
    }
    lines += (count++ == 0 ? "" : ",") + line_json(line);
    return true;
  });
  if (!summary) return error_answer(summary.error());
  return json_text_answer(200, "{\"summary\":" + summary_json(*summary) + ",\"lines\":[" + lines +
                                   "],\"truncated\":" + (is_cut ? "true" : "false") + "}");
}

}  // namespace

void post_run(Services& services, Call call) {
  auto* runs = service_for(services, call);
  if (runs == nullptr) return;
  if (is_csv(call.request)) return upload_plan(*runs, services, std::move(call));
  if (call.request.body.size() > json_bytes_max) return call.answer(too_large());
  auto request = parse_run_request(call);
  if (!request) return call.answer(bad_request(request.error()));
  block_then(services, call.answer,
             [runs, request = std::move(*request), who = call.principal, answer = call.answer] {
               answer(request.dry_run
                          ? plan_answer(runs->plan_configured(request.period))
                          : started_answer(runs->start(request.period, request.plan, who)));
             });
}

void get_plan(Services& services, Call call) {
  auto* runs = service_for(services, call);
  if (runs == nullptr) return;
  auto query = Query::parse(call.request.query, {});
  if (!query) return call.answer(bad_request(query.error()));
  block_then(services, call.answer, [runs, hash = call.segments[2], answer = call.answer] {
    answer(plan_answer(runs->find_plan(hash)));
  });
}

void list_runs(Services& services, Call call) {
  auto* runs = service_for(services, call);
  if (runs == nullptr) return;
  auto query = Query::parse(call.request.query, {});
  if (!query) return call.answer(bad_request(query.error()));
  block_then(services, call.answer, [runs, answer = call.answer] {
    const auto all = runs->list();
    answer(all ? json_text_answer(200, runs_json(*all)) : error_answer(all.error()));
  });
}

void get_run(Services& services, Call call) {
  auto* runs = service_for(services, call);
  if (runs == nullptr) return;
  auto query = Query::parse(call.request.query, {});
  if (!query) return call.answer(bad_request(query.error()));
  block_then(services, call.answer, [runs, id = call.segments[2], answer = call.answer] {
    const auto shown = runs->show(id);
    answer(shown ? json_text_answer(200, shown_json(*shown)) : error_answer(shown.error()));
  });
}

void report_run(Services& services, Call call) {
  auto* runs = service_for(services, call);
  if (runs == nullptr) return;
  auto query = Query::parse(call.request.query, {"all"});
  if (!query) return call.answer(bad_request(query.error()));
  const bool all = query->find("all").value_or("") == "true";
  block_then(services, call.answer, [runs, all, id = call.segments[2], answer = call.answer] {
    answer(report_answer(*runs, id, all));
  });
}

void pause_run(Services& services, Call call) {
  steer(services, std::move(call), &RunService::pause);
}
void resume_run(Services& services, Call call) {
  steer(services, std::move(call), &RunService::resume);
}
void cancel_run(Services& services, Call call) {
  steer(services, std::move(call), &RunService::cancel);
}

}  // namespace onceward::ingress

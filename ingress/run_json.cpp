// JSON of plans, runs and reports. Members in the order that people read them.
#include <onceward/ingress/run_json.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace onceward::ingress {

namespace {

namespace json = boost::json;

json::string text(std::string_view from) {
  return json::string(from.data(), from.size());
}

json::value text_or_null(std::string_view from) {
  if (from.empty()) return nullptr;
  return text(from);
}

json::object money(const Money& amount) {
  return {{"currency", text(amount.currency.text())}, {"amount_minor", amount.minor}};
}

json::array amounts(const std::vector<Money>& list) {
  json::array array;
  for (const Money& amount : list) array.push_back(money(amount));
  return array;
}

json::object counts(const std::map<std::string, std::uint64_t>& by_name) {
  json::object object;
  for (const auto& [name, count] : by_name) object[name] = count;
  return object;
}

json::object plan(const billing::ApprovedPlan& approved) {
  return {{"plan", approved.plan.value()},       {"period", approved.period.text()},
          {"customers", approved.customers},     {"to_bill", approved.to_bill},
          {"skipped", counts(approved.skipped)}, {"totals", amounts(approved.totals)}};
}

json::object run(const billing::RunView& view) {
  json::object object;
  object["id"] = view.id.value();
  object["status"] = text(to_text(view.status));
  for (auto& member : plan(view.plan)) object[member.key()] = member.value();
  object["cursor"] = view.cursor;
  object["covered"] = view.covered;
  object["asked"] = view.asked;
  object["in_progress"] = view.in_progress;
  object["held"] = view.held;
  json::object outcomes;
  for (const auto& [outcome, count] : view.outcomes) outcomes[to_text(outcome)] = count;
  object["outcomes"] = std::move(outcomes);
  object["limits"] = amounts(view.limits);
  object["started_at"] = to_iso(view.started_at);
  object["started_by"] = view.started_by;
  object["changed_at"] = to_iso(view.changed_at);
  object["changed_by"] = text_or_null(view.changed_by);
  object["why"] = text_or_null(view.why);
  object["problem"] = text_or_null(view.problem);
  return object;
}

json::value seconds_or_null(const std::optional<std::chrono::seconds>& seconds) {
  if (!seconds) return nullptr;
  return static_cast<std::int64_t>(seconds->count());
}

}  // namespace

std::string plan_json(const journal::PlanSummary& summary) {
  json::object object = {{"plan", summary.hash},
                         {"period", summary.period.text()},
                         {"customers", summary.customers},
                         {"to_bill", summary.to_bill},
                         {"skipped", counts(summary.skipped)}};
  json::array totals;
  for (const auto& total : summary.totals) {
    totals.push_back(money(Money{total.amount_minor, total.currency}));
  }
  object["totals"] = std::move(totals);
  object["created_at"] = to_iso(summary.created_at);
  return json::serialize(object);
}

std::string run_json(const billing::RunView& view) {
  return json::serialize(run(view));
}

std::string runs_json(const std::vector<billing::RunView>& runs) {
  json::array array;
  for (const auto& view : runs) array.push_back(run(view));
  return json::serialize(json::object{{"runs", std::move(array)}});
}

std::string shown_json(const RunShown& shown) {
  json::object object = run(shown.run);
  json::object by_status;
  for (const auto& [status, count] : shown.tally.by_status) by_status[to_text(status)] = count;
  object["by_status"] = std::move(by_status);
  object["without_obligation"] = shown.tally.without_obligation;
  object["not_billable"] = shown.tally.skipped;
  object["rows_per_minute"] =
      shown.rows_per_minute ? json::value(*shown.rows_per_minute) : json::value(nullptr);
  object["remaining_s"] = seconds_or_null(shown.remaining);
  object["oldest"] = text_or_null(shown.run.oldest.value());
  object["oldest_age_s"] = seconds_or_null(shown.oldest_age);
  return json::serialize(object);
}

std::string line_json(const ReportLine& line) {
  json::object object = {{"customer", line.row.customer.value()},
                         {"purpose", line.row.purpose.value()},
                         {"amount_minor", line.row.amount.minor},
                         {"currency", text(line.row.amount.currency.text())},
                         {"outcome", line.outcome},
                         {"charge_id", text_or_null(line.charge_id)},
                         {"reason", text_or_null(line.reason)},
                         {"recorded_amount_minor", nullptr},
                         {"recorded_currency", nullptr}};
  if (line.recorded) {
    object["recorded_amount_minor"] = line.recorded->minor;
    object["recorded_currency"] = text(line.recorded->currency.text());
  }
  return json::serialize(object);
}

std::string summary_json(const ReportSummary& summary) {
  std::uint64_t total = 0;
  for (const auto& [name, count] : summary.by_outcome) total += count;
  return json::serialize(json::object{
      {"run", run(summary.run)}, {"by_outcome", counts(summary.by_outcome)}, {"total", total}});
}

}  // namespace onceward::ingress

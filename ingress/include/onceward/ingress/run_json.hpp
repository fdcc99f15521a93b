// Plans, runs and reports as JSON text: the members that the HTTP API answers with and `--json`
// prints. Members are only ever added.
#pragma once

#include <string>
#include <vector>

#include <onceward/ingress/run_service.hpp>

namespace onceward::ingress {

/// `{"plan","period","customers","to_bill","skipped":{reason:n},"totals":[{"currency",
/// "amount_minor"}]}` and `created_at`.
[[nodiscard]] std::string plan_json(const journal::PlanSummary& plan);
/// `{"id","period","plan","status","customers","to_bill","cursor","covered","asked","in_progress",
/// "held","outcomes":{name:n},"totals","limits","started_at","started_by","changed_at",
/// "changed_by","why","problem"}`.
[[nodiscard]] std::string run_json(const billing::RunView& run);
/// `{"runs":[...]}`, each as run_json.
[[nodiscard]] std::string runs_json(const std::vector<billing::RunView>& runs);
/// The members of run_json and `by_status`, `without_obligation`, `not_billable`,
/// `rows_per_minute`, `remaining_s`, `oldest`, `oldest_age_s` (null where unknown).
[[nodiscard]] std::string shown_json(const RunShown& shown);
/// `{"customer","purpose","amount_minor","currency","outcome","charge_id","reason",
/// "recorded_amount_minor","recorded_currency"}` (the last three null where absent).
[[nodiscard]] std::string line_json(const ReportLine& line);
/// `{"run":run_json,"by_outcome":{name:n},"total"}`.
[[nodiscard]] std::string summary_json(const ReportSummary& summary);

}  // namespace onceward::ingress

// The completeness report: the rows of a plan, the obligations they led to and the outcomes that
// the run stored for the others, joined in the order of the plan. Private to the run service.
#pragma once

#include <functional>

#include <onceward/ingress/run_service.hpp>

namespace onceward::ingress {

/// Reads through its own reader and plan store, which must be fresh.
[[nodiscard]] Result<ReportSummary> report_run(const billing::RunView& run,
                                               const PersistenceId& scheduler,
                                               journal::JournalReader& reader,
                                               journal::PlanStore& plans,
                                               const std::function<bool(const ReportLine&)>& line);

}  // namespace onceward::ingress

// Two ordered sources, joined by the ordinal of the row: pages of the plan with their obligations,
// and the exceptional rows from the scheduler's history.
#include "ingress/run_report.hpp"

#include <optional>
#include <utility>

namespace onceward::ingress {

namespace {

using billing::RunOutcome;

constexpr std::size_t report_page_rows = 500;

// Eight bytes each, so that a run in which everybody was refused still fits.
struct Exceptional {
  std::uint32_t ordinal = 0;
  RunOutcome outcome = RunOutcome::refused;
};

Result<std::vector<Exceptional>> exceptional_rows(const billing::RunView& run,
                                                  const PersistenceId& scheduler,
                                                  journal::JournalReader& reader) {
  std::vector<Exceptional> rows;
  std::optional<Error> broken;
  const auto codec = billing::scheduler_event_codec();
  const auto replayed =
      reader.replay(scheduler, SequenceNr{0}, [&](const PersistenceId&, StoredEvent&& stored) {
        if (stored.event.manifest.name != "CursorMoved") return true;
        auto event = codec.decode(stored.event);
        if (!event) {
          broken = std::move(event).error();
          return false;
        }
        const auto& moved = std::get<billing::CursorMoved>(*event);
        if (moved.run != run.nr) return true;
        for (const auto& row : moved.exceptional) {
          rows.push_back({static_cast<std::uint32_t>(row.row.ordinal), row.outcome});
        }
        return true;
      });
  if (broken) return Unexpected{std::move(*broken)};
  if (!replayed) return Unexpected{replayed.error()};
  return rows;
}

// A conflict stands beside the obligation of another amount. Any other outcome is overtaken by an
// obligation: somebody billed the customer later by other means.
std::string_view outcome_of(const journal::PlannedOutcome& planned,
                            std::optional<RunOutcome> exceptional) {
  if (exceptional == RunOutcome::conflict) return to_text(*exceptional);
  if (planned.obligation) return to_text(planned.obligation->status);
  if (exceptional) return to_text(*exceptional);
  if (!planned.row.skip_reason.empty()) return to_text(RunOutcome::not_billable);
  return "not_asked";
}

ReportLine line_of(journal::PlannedOutcome&& planned, std::optional<RunOutcome> exceptional) {
  ReportLine line;
  line.outcome = outcome_of(planned, exceptional);
  if (planned.obligation) {
    line.charge_id = planned.obligation->charge_id;
    line.reason = planned.obligation->reason;
    if (planned.obligation->amount != planned.row.amount)
      line.recorded = planned.obligation->amount;
  } else {
    line.reason = planned.row.skip_reason;
  }
  line.row = std::move(planned.row);
  return line;
}

}  // namespace

Result<ReportSummary> report_run(const billing::RunView& run, const PersistenceId& scheduler,
                                 journal::JournalReader& reader, journal::PlanStore& plans,
                                 const std::function<bool(const ReportLine&)>& line) {
  const auto exceptional = exceptional_rows(run, scheduler, reader);
  if (!exceptional) return Unexpected{exceptional.error()};
  ReportSummary summary{run, {}};
  auto next_exceptional = exceptional->begin();
  std::uint32_t ordinal = 0;
  journal::PlanCursor after;
  while (true) {
    auto page = plans.outcomes(run.plan.plan.value(), after, report_page_rows);
    if (!page) return Unexpected{std::move(page).error()};
    const bool is_last = page->size() < report_page_rows;
    if (!page->empty()) after = {page->back().row.customer, page->back().row.purpose};
    for (auto& planned : *page) {
      ++ordinal;
      std::optional<RunOutcome> outcome;
      if (next_exceptional != exceptional->end() && next_exceptional->ordinal == ordinal) {
        outcome = next_exceptional++->outcome;
      }
      const ReportLine reported = line_of(std::move(planned), outcome);
      ++summary.by_outcome[reported.outcome];
      if (!line(reported)) return summary;
    }
    if (is_last) return summary;
  }
}

}  // namespace onceward::ingress

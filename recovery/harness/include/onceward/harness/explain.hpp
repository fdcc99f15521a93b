// Explaining a failure: the sequence diagram of a schedule as text or as a page with an inline
// drawing, with what is durable after each step, and the invariant in words.
#pragma once

#include <string>
#include <vector>

#include <onceward/harness/explore.hpp>

namespace onceward::harness {

/// One line per step: who acts on whom, what happens, and what is durable whenever it changed.
[[nodiscard]] std::string to_text(const Replay& replay);

/// One line that reproduces the failure. `extra`: further arguments, e.g. `--without claim`.
[[nodiscard]] std::string replay_command(const std::string& scenario, const Failure& failure,
                                         const std::string& extra);

/// One run on a page.
struct ReportEntry {
  Report report;
  std::string says;     ///< of the scenario
  Replay failed;        ///< the shrunk schedule, if there is a failure
  std::string command;  ///< that replays it
};
/// A page of its own, without any other file; all text is escaped.
[[nodiscard]] std::string to_html(const std::vector<ReportEntry>& entries,
                                  const std::string& title);

/// `3 crashes, 1 ambiguity` of a bound; `no fault` if there is none.
[[nodiscard]] std::string to_text(const FaultBounds& bound);

}  // namespace onceward::harness

// RunProgress: the transient part of a run: which rows of its plan were read, asked and answered in
// this incarnation. Nothing here is stored; taking the run up at its cursor rebuilds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <onceward/billing/run.hpp>

namespace onceward::billing {

/// Rows read at once, and asked by one decision at most.
inline constexpr std::size_t plan_page_rows = 512;
inline constexpr std::size_t ask_batch_max = 256;
/// Rows beyond the first one without an outcome that may be read: bounds memory, and the repeated
/// asking after a crash, when one customer does not answer.
inline constexpr std::uint64_t look_ahead_max = 4096;

/// What an answer says about a row.
enum class Standing : std::uint8_t {
  in_progress,  ///< recorded, its outcome is awaited
  left,         ///< recorded with any other status, or refused: see RunOutcome
  held,         ///< busy or uncertain: ask again after a pause
};

/// How many rows are where, for the eyes of an operator.
struct RunCounts {
  std::uint64_t asked = 0;
  std::uint64_t in_progress = 0;
  std::uint64_t held = 0;
  CustomerId oldest;  ///< asked first of these; empty: none
  std::int64_t oldest_since_boottime_ms = 0;
};

/// A value. Two counts: rows are *covered* in order, up to the first one without an outcome; the
/// *window* holds the rows that were asked and have not left in_progress. A row whose answer is
/// `held` keeps its place in the window and stops the cover. Calls for rows that are not in the
/// window change nothing: answers may be late, repeated or of an earlier incarnation.
class RunProgress {
 public:
  [[nodiscard]] bool is_taken_up() const noexcept { return taken_up_; }
  /// Rows up to `cursor` have an outcome; reading begins after `watched_from`.
  void take_up(const PlanPosition& watched_from, const PlanPosition& cursor);

  void load_started(std::int64_t now_ms);
  /// Rows after the place of the load that was started; of rows up to the cursor only those in
  /// progress are kept, to be watched.
  void rows_arrived(const std::vector<RunRow>& rows, bool complete);
  /// The load is tried again at the next tick.
  void load_failed(std::string problem);
  void asked(const std::vector<std::uint64_t>& ordinals, std::int64_t now_ms);
  /// `outcome`: the row led to no obligation.
  void told(std::uint64_t ordinal, Standing standing, std::optional<RunOutcome> outcome);
  /// What is held or was asked `again_after_ms` ago becomes due to be asked again.
  void ticked(std::int64_t now_ms, std::int64_t again_after_ms);
  /// The cursor was stored up to here.
  void cursor_moved(const PlanPosition& cursor);

  /// True if the next page should be read, after loaded_to(), to keep `window` rows ready.
  [[nodiscard]] bool wants_rows(std::size_t window) const;
  [[nodiscard]] bool is_loading() const noexcept { return loading_since_ms_.has_value(); }
  [[nodiscard]] const PlanPosition& loaded_to() const noexcept { return loaded_to_; }
  /// Rows to ask now, lowest first: those to be asked again, then new ones while the window has
  /// room.
  [[nodiscard]] std::vector<std::uint64_t> to_ask(std::size_t window) const;
  /// The row if it is known and not finished with.
  [[nodiscard]] const RunRow* row(std::uint64_t ordinal) const;

  [[nodiscard]] const PlanPosition& covered() const noexcept { return covered_; }
  /// Place before the first covered row that is still in the window.
  [[nodiscard]] PlanPosition watched_from() const;
  /// Covered since the cursor moved last, in order.
  [[nodiscard]] const std::vector<ExceptionalRow>& exceptional() const { return exceptional_; }
  /// A tick came while something was covered that is not stored.
  [[nodiscard]] bool is_move_due() const noexcept { return move_due_; }
  /// The whole plan is covered and the window is empty.
  [[nodiscard]] bool is_finished() const noexcept;

  [[nodiscard]] std::size_t window_used() const noexcept { return window_used_; }
  [[nodiscard]] RunCounts counts() const;
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  static constexpr std::int64_t never = -1;
  enum class Phase : std::uint8_t { fresh, asked, in_progress, held, left };
  struct Row {
    RunRow row;
    PlanPosition before;  // where reading must begin to meet this row again
    Phase phase = Phase::fresh;
    bool has_outcome = false;
    bool in_window = false;
    std::optional<RunOutcome> outcome;
    std::int64_t asked_ms = never;
    std::int64_t first_asked_ms = never;
  };

  void add(const RunRow& row);
  void cover();

  bool taken_up_ = false;
  bool complete_ = false;
  bool load_held_ = false;
  bool move_due_ = false;
  std::optional<std::int64_t> loading_since_ms_;
  PlanPosition loaded_to_;
  PlanPosition covered_;
  std::uint64_t moved_to_ = 0;         // ordinal of the stored cursor
  std::map<std::uint64_t, Row> rows_;  // by ordinal: not covered, or in the window
  std::set<std::uint64_t> fresh_;
  std::set<std::uint64_t> again_;
  std::size_t window_used_ = 0;
  std::vector<ExceptionalRow> exceptional_;
  std::string problem_;
};

}  // namespace onceward::billing

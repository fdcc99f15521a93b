// Translation of the scheduler's replies.
#include "ingress/run_answers.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace onceward::ingress {

namespace {

Unexpected turned_down(Turndown why) {
  switch (why) {
    case Turndown::busy:
      return fail(ErrorCode::busy,
                  "the scheduler takes no more commands now; nothing was recorded");
    case Turndown::uncertain:
      return fail(ErrorCode::store_uncertain,
                  "the store did not say whether it was recorded; send the same again");
    case Turndown::quarantined:
      return fail(ErrorCode::quarantined,
                  "the scheduler is quarantined; an operator must look at its history");
    case Turndown::invalid:
      return fail(ErrorCode::invalid_argument, "the scheduler's unit was refused as malformed");
  }
  check_failed("why", __FILE__, __LINE__, "a Turndown is one of its enumerators");
}

}  // namespace

void ReplySlot::put(std::any reply) {
  auto* typed = std::any_cast<billing::SchedulerReply>(&reply);
  ONCEWARD_CHECK(typed != nullptr, "a scheduler answers with its replies");
  const std::lock_guard guard(mutex_);
  if (!reply_) reply_ = std::move(*typed);
  came_.notify_all();
}

Result<billing::SchedulerReply> ReplySlot::take(std::chrono::milliseconds longest) {
  std::unique_lock guard(mutex_);
  if (!came_.wait_for(guard, longest, [this] { return reply_.has_value(); })) {
    return fail(ErrorCode::store_uncertain,
                "the scheduler has not answered in " + std::to_string(longest.count()) +
                    " ms; it may have recorded the command: send the same again");
  }
  if (const auto* down = std::get_if<billing::RunTurnedDown>(&*reply_)) {
    return turned_down(down->why);
  }
  return std::move(*reply_);
}

Result<billing::RunTold> told_or_error(billing::SchedulerReply reply, std::string_view what) {
  if (auto* told = std::get_if<billing::RunTold>(&reply)) return std::move(*told);
  if (auto* conflict = std::get_if<billing::RunConflict>(&reply)) {
    return fail(ErrorCode::conflict, std::move(conflict->detail));
  }
  if (auto* refused = std::get_if<billing::RunRefused>(&reply)) {
    return fail(ErrorCode::invalid_argument, std::move(refused->detail));
  }
  ONCEWARD_CHECK(std::holds_alternative<billing::NoSuchRun>(reply),
                 "a command to a run is answered about a run");
  return fail(ErrorCode::not_found, "no run " + std::string(what));
}

Result<billing::RunView> pick_run(std::vector<billing::RunView> runs, std::string_view text) {
  std::erase_if(runs, [text](const billing::RunView& run) {
    return text.empty() || !run.id.value().starts_with(text);
  });
  const auto exact = std::find_if(runs.begin(), runs.end(), [text](const billing::RunView& run) {
    return run.id.value() == text;
  });
  if (exact != runs.end()) return std::move(*exact);
  if (runs.empty()) {
    return fail(ErrorCode::not_found, "no run has this id; `onceward runs list` shows all");
  }
  if (runs.size() == 1) return std::move(runs.front());
  return fail(ErrorCode::conflict,
              std::to_string(runs.size()) + " runs have ids that begin so; give more of the id");
}

}  // namespace onceward::ingress

// Group commit without timer or lock: the first unit of a group makes the actor send itself a
// flush, which arrives behind all that already waits.
#include "actors/journal_writer_actor.hpp"

#include <algorithm>
#include <utility>

namespace onceward::actors {

namespace {
constexpr std::int64_t retry_ms_min = 50;
constexpr std::int64_t retry_ms_max = 5'000;
}  // namespace

JournalWriterActor::JournalWriterActor(caf::actor_config& config, Node& node)
    : caf::event_based_actor(config), node_(node) {
  node_.services.add();
}

caf::behavior JournalWriterActor::make_behavior() {
  // noexcept: no user code runs here.
  return {[this](WriterMail& mail) noexcept {
    std::visit([this](auto&& content) { on(std::forward<decltype(content)>(content)); },
               std::move(mail.content));
  }};
}

void JournalWriterActor::on_exit() {
  waiting_.clear();
  quarantines_.clear();
  node_.services.subtract();
}

void JournalWriterActor::on(mail::Stop&&) {
  if (!units_.empty()) commit_group();
  quit();
}

void JournalWriterActor::on(mail::CommitRequest&& request) {
  // A barrier raises the epoch: this unit, which no store has seen, would be refused after it.
  // Saying so now lets its entity keep the command instead of calling its fate unknown.
  if (node_.journal.barrier_pending()) {
    return post(request.entity,
                EntityMail{mail::CommitAnswered{request.incarnation, Fenced{Fenced::By::epoch},
                                                std::move(request.work)}});
  }
  units_.push_back(std::move(request.unit));
  waiting_.push_back(
      Waiting{std::move(request.entity), request.incarnation, std::move(request.work)});
  if (units_.size() >= group_units_max) return commit_group();
  if (flush_sent_) return;
  flush_sent_ = true;
  post(caf::actor_cast<caf::actor>(this), WriterMail{mail::Flush{}});
}

void JournalWriterActor::on(mail::Flush&&) {
  flush_sent_ = false;
  if (!units_.empty()) commit_group();
}

void JournalWriterActor::commit_group() {
  auto answers = node_.journal.commit(units_);
  ONCEWARD_CHECK(answers.size() == units_.size(), "each unit is answered");
  node_.groups.fetch_add(1, std::memory_order_relaxed);
  node_.units.fetch_add(units_.size(), std::memory_order_relaxed);
  units_.clear();
  if (node_.journal.barrier_pending()) {
    node_.store_uncertain.store(true);
    for (const auto& answer : answers) {
      if (const auto* unknown = std::get_if<CommitUnknown>(&answer)) {
        node_.report_writer(unknown->error.context);
      }
    }
  }
  for (std::size_t nr = 0; nr < answers.size(); ++nr) answer(nr, std::move(answers[nr]));
  waiting_.clear();
  if (node_.journal.barrier_pending()) resolve();
}

void JournalWriterActor::answer(std::size_t nr, CommitAnswer&& answer) {
  Waiting& waiting = waiting_[nr];
  post(waiting.entity, EntityMail{mail::CommitAnswered{waiting.incarnation, std::move(answer),
                                                       std::move(waiting.work)}});
}

void JournalWriterActor::on(mail::RetryBarrier&&) {
  resolve();
}

void JournalWriterActor::resolve() {
  if (node_.journal.barrier_pending()) {
    auto epoch = node_.journal.barrier();
    if (!epoch) {
      node_.report_writer(epoch.error().context);
      return try_again_later();
    }
  }
  node_.store_uncertain.store(false);
  node_.report_writer({});
  retry_ms_ = 0;
  post(node_.reader, ReaderMail{mail::BarrierDone{}});
  record_quarantines();
}

void JournalWriterActor::try_again_later() {
  retry_ms_ = std::clamp(retry_ms_ * 2, retry_ms_min, retry_ms_max);
  node_.alarm.set(Alarm::barrier, retry_ms_);
}

void JournalWriterActor::on(mail::QuarantineRequest&& request) {
  quarantines_.push_back(std::move(request));
  record_quarantines();
}

void JournalWriterActor::on(mail::LiftRequest&& request) {
  const auto asked = std::find_if(quarantines_.begin(), quarantines_.end(),
                                  [&](const auto& waits) { return waits.id == request.id; });
  if (asked != quarantines_.end()) {
    return request.open->end(fail(ErrorCode::busy, "it is being quarantined just now"));
  }
  auto lifted = node_.journal.lift_quarantine(request.id);
  if (!lifted) {
    node_.report_writer(lifted.error().context);
    return request.open->end(std::move(lifted));
  }
  post(request.router, RouterMail{mail::Lifted{std::move(request.id), std::move(request.open)}});
}

// Until it is recorded the entity refuses commands by itself; what fails is tried again.
void JournalWriterActor::record_quarantines() {
  const Timestamp now = node_.now().wall;
  auto failed = std::remove_if(quarantines_.begin(), quarantines_.end(), [&](auto& request) {
    const auto recorded = node_.journal.quarantine(request.id, request.reason, now);
    if (!recorded) {
      node_.report_writer(recorded.error().context);
      return false;
    }
    post(request.entity, EntityMail{mail::QuarantineRecorded{}});
    return true;
  });
  quarantines_.erase(failed, quarantines_.end());
  if (!quarantines_.empty()) try_again_later();
}

}  // namespace onceward::actors

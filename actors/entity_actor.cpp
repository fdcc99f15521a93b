// Mail and phases of an entity actor. The border where exceptions of user code end is receive().
#include "actors/entity_actor.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace onceward::actors {

namespace {

// Pause before the n-th recovery in a row: a store in trouble is not hammered.
constexpr std::int64_t back_off_ms_min = 50;
constexpr std::int64_t back_off_ms_max = 5'000;

std::int64_t back_off_ms(int setbacks) {
  std::int64_t pause = back_off_ms_min;
  for (int i = 1; i < setbacks && pause < back_off_ms_max; ++i) pause *= 2;
  return std::min(pause, back_off_ms_max);
}

/// The text of a foreign exception may hold anything; the journal takes short text only.
std::string printable(std::string text) {
  constexpr std::size_t bytes_max = 1'000;
  if (text.size() > bytes_max) text.resize(bytes_max);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

EntityActor::EntityActor(caf::actor_config& config, Node& node, const EntityBinding& binding,
                         PersistenceId id, Incarnation incarnation, int deaths)
    : caf::event_based_actor(config),
      node_(node),
      binding_(binding),
      id_(std::move(id)),
      shard_(journal::shard_of(id_, node.options.shards)),
      router_(node.gate->router_of(id_)),
      incarnation_(incarnation),
      deaths_(deaths) {
  node_.entities.add();
  node_.at_work.add();
  node_.recovering.add();
}

caf::behavior EntityActor::make_behavior() {
  return {[this](EntityMail& mail) { receive(mail); }};
}

void EntityActor::on_exit() {
  machine_.reset();
  release_permits();
  held_.clear();
  answers_.clear();
  open_.clear();  // answers whoever still waits
  if (counted_at_work_) node_.at_work.subtract();
  if (counted_recovering_) node_.recovering.subtract();
  node_.entities.subtract();
}

void EntityActor::receive(EntityMail& mail) {
  try {
    std::visit([this](auto&& content) { on(std::forward<decltype(content)>(content)); },
               std::move(mail.content));
  } catch (const std::exception& e) {
    die(e.what());
  } catch (...) {
    die("an exception that is no std::exception");
  }
  settle();
}

void EntityActor::on(mail::Stop&&) {
  quit();
}

void EntityActor::on(mail::Delivery&& delivery) {
  std::visit([this](auto&& content) { on(std::forward<decltype(content)>(content)); },
             std::move(delivery));
}

void EntityActor::on(mail::Command&& command) {
  if (phase_ == Phase::quarantined) return command.open->turn_down(Turndown::quarantined);
  // A command that arrives while the node drains is certainly not recorded.
  if (node_.draining.load(std::memory_order_relaxed))
    return command.open->turn_down(Turndown::busy);
  if (phase_ == Phase::recovering && held_.size() >= stash_max) {
    return command.open->turn_down(Turndown::busy);
  }
  std::any copy = command.open->command();
  take(input::Command{std::move(copy), open(std::move(command.open))});
}

void EntityActor::on(mail::TellAnswered&& answered) {
  ONCEWARD_CHECK(binding_.tell_result, "an entity type that tells needs a tell_result");
  take(input::Command{
      binding_.tell_result(answered.from, answered.correlation, std::move(answered.reply)),
      ReplyTo{}, false, true});
}

void EntityActor::on(mail::Loaded&& loaded) {
  --loads_;
  take(input::Command{std::move(loaded.command), ReplyTo{}, false, true});
}

void EntityActor::on(mail::LoadFailed&& failed) {
  --loads_;
  die(failed.what);
}

// Commands wait here and not in a recovering machine: only what was never fed can be turned down
// with the right reason when recovery takes too long.
void EntityActor::take(input::Command command) {
  if (phase_ == Phase::running) return feed_command(std::move(command));
  if (phase_ == Phase::recovering) {
    held_.push_back(Held{std::move(command), false, node_.alarm.elapsed_ms()});
  }
}

void EntityActor::on(mail::CallAnswered&& answered) {
  if (calls_ > 0) --calls_;  // 0: the call of an earlier actor of this entity
  // `answered` keeps its work token until the commit that the answer leads to has its own.
  if (phase_ == Phase::running) return feed(input::CallAnswered{std::move(answered.answer)}, true);
  if (phase_ == Phase::recovering) answers_.push_back(std::move(answered));
}

void EntityActor::on(mail::PermitGranted&& granted) {
  if (permits_asked_ > 0) --permits_asked_;  // 0: asked by an earlier actor of this entity
  if (phase_ != Phase::running || node_.draining.load(std::memory_order_relaxed)) return;
  granted.permit.take();
  ++permits_;
  feed(input::PermitGranted{granted.incarnation});
}

void EntityActor::on(mail::Wake&&) {
  // Recovery ends with the same question, what is owed.
  if (phase_ == Phase::running) feed(input::Wake{}, true);
}

void EntityActor::on(mail::CommitAnswered&& answered) {
  --commits_;
  if (phase_ != Phase::running || answered.incarnation != incarnation_) return;
  if (std::holds_alternative<Stored>(answered.answer)) setbacks_ = 0;
  feed(input::CommitAnswered{answered.incarnation, std::move(answered.answer)});
}

void EntityActor::on(mail::Recovered&& recovered) {
  if (phase_ == Phase::recovering && recovered.incarnation == incarnation_) {
    start_machine(std::move(recovered));
  }
}

void EntityActor::on(mail::Passivate&&) {
  if (!is_idle()) {
    said_stays_ = true;
    return node_.gate->post_to(router_, RouterMail{mail::Stays{id_}});
  }
  node_.passivations.fetch_add(1, std::memory_order_relaxed);
  node_.gate->post_to(router_, RouterMail{mail::Left{id_, deaths_}});
  quit();
}

void EntityActor::on(mail::TurnDownLate&&) {
  const std::int64_t latest = node_.alarm.elapsed_ms() - node_.options.recovery_wait_ms;
  std::erase_if(held_, [&](const Held& held) {
    if (held.since_ms > latest || held.command.reply_to == ReplyTo{}) return false;
    turn_down(held.command.reply_to, held.in_hand ? Turndown::uncertain : Turndown::busy);
    return true;
  });
}

// The router stops this actor once it knows, so that all it forwarded before is answered here.
void EntityActor::on(mail::QuarantineRecorded&&) {
  node_.gate->post_to(router_, RouterMail{mail::Quarantined{id_}});
}

void EntityActor::start_machine(mail::Recovered&& recovered) {
  machine_ = binding_.type.create(
      MachineOptions{id_, shard_, incarnation_, node_.writer_id(incarnation_)});
  phase_ = Phase::running;
  if (!recovered.end) return feed(input::RecoveryFailed{std::move(recovered.end).error()});
  if (!recovered.events.empty()) feed(input::Replayed{std::move(recovered.events)});

  // What was in hand goes in before the end of recovery: were resume() asked first, it would repeat
  // the very call whose answer we hold.
  auto answers = std::exchange(answers_, {});  // with their work tokens, until the end of this
  for (auto& answered : answers) {
    if (machine_) feed(input::CallAnswered{std::move(answered.answer)});
  }
  for (auto held = held_.begin(); machine_ && held != held_.end();) {
    if (!held->command.accepted) {
      ++held;
      continue;
    }
    auto command = std::move(held->command);
    held = held_.erase(held);
    feed(std::move(command));
  }
  const journal::HistoryEnd& end = *recovered.end;
  if (machine_) feed(input::RecoveryDone{end.last, end.head, end.epoch}, true);
  feed_held();
}

void EntityActor::feed_held() {
  while (phase_ == Phase::running && !held_.empty()) {
    auto command = std::move(held_.front().command);
    held_.pop_front();
    feed_command(std::move(command));
  }
}

void EntityActor::feed_command(input::Command command) {
  if (Open* waiting = find(command.reply_to)) waiting->command->reached_machine();
  feed(std::move(command), true);
}

void EntityActor::feed(Input input, bool offer_permit) {
  const StepContext context{node_.now(), offer_permit && node_.try_permit()};
  if (context.permit_offered) ++permits_;
  std::vector<Output> outputs;
  std::exception_ptr thrown;
  try {
    machine_->step(std::move(input), context, outputs);
  } catch (...) {
    thrown = std::current_exception();
  }
  // Outputs of a step that threw later were released by what is stored: they are owed.
  perform(outputs);
  if (thrown) std::rethrow_exception(thrown);
}

void EntityActor::recover_later() {
  machine_.reset();
  phase_ = Phase::recovering;
  ++setbacks_;
  incarnation_ = node_.next_incarnation();
  post(node_.reader, ReaderMail{mail::Recover{id_, caf::actor_cast<caf::actor>(this), incarnation_,
                                              back_off_ms(setbacks_)}});
}

// User code threw. The machine may be half way through a step: only the journal knows what holds.
void EntityActor::die(const std::string& what) {
  if (phase_ == Phase::quarantined) return;
  ++deaths_;
  machine_.reset();
  release_permits();
  held_.clear();
  open_.clear();
  if (deaths_ < node_.options.deaths_max) return recover_later();
  quarantine("threw " + std::to_string(deaths_) + " times, at last: " + what);
}

void EntityActor::quarantine(std::string reason) {
  machine_.reset();
  phase_ = Phase::quarantined;
  turn_down_all(Turndown::quarantined);
  held_.clear();
  if (!answers_.empty()) {
    reason += "; " + std::to_string(answers_.size()) + " provider answer(s) were not stored";
    answers_.clear();
  }
  post(node_.writer, WriterMail{mail::QuarantineRequest{caf::actor_cast<caf::actor>(this), id_,
                                                        printable(std::move(reason))}});
}

bool EntityActor::is_idle() const {
  return phase_ == Phase::running && machine_->is_idle() && loads_ == 0;
}

bool EntityActor::is_at_work() const {
  return phase_ == Phase::recovering || permits_asked_ + calls_ + commits_ + loads_ > 0;
}

// After each mail: counts, and what an idle entity owes to others.
void EntityActor::settle() {
  const auto count = [](Tally& tally, bool& counted, bool counts) {
    if (counts == counted) return;
    counts ? tally.add() : tally.subtract();
    counted = counts;
  };
  count(node_.recovering, counted_recovering_, phase_ == Phase::recovering);
  count(node_.at_work, counted_at_work_, is_at_work());
  const bool idle = is_idle();
  // The decider neither answered nor waits: still nobody is left without an answer.
  if (idle && !open_.empty()) turn_down_all(Turndown::uncertain);
  if (idle && !was_idle_ && (said_stays_ || node_.is_crowded())) {
    said_stays_ = false;
    node_.gate->post_to(router_, RouterMail{mail::MayLeave{id_}});
  }
  was_idle_ = idle;
}

}  // namespace onceward::actors

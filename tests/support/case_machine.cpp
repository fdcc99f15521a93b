// One entity's shell: the order of things that a process does, with the places where it may die.
#include "tests/support/case_machine.hpp"

#include <algorithm>
#include <utility>

#include "tests/support/case_world.hpp"

namespace onceward::testing {

namespace {

bool claims(const CommitUnit& unit) {
  return std::any_of(unit.rows.begin(), unit.rows.end(),
                     [](const RowWrite& row) { return row.kind == RowWrite::Kind::claim; });
}

bool has_outcome(const CommitUnit& unit) {
  return std::any_of(unit.events.begin(), unit.events.end(), [](const EncodedEvent& event) {
    return event.manifest.name == "BillingCompleted" || event.manifest.name == "AttemptDeclined";
  });
}

bool starts_money(const CommitUnit& unit) {
  return std::any_of(unit.events.begin(), unit.events.end(), [](const EncodedEvent& event) {
    if (event.manifest.name != "RequestStarted") return false;
    const auto decoded = billing::billing_event_codec().decode(event);
    const auto* started = decoded ? std::get_if<billing::RequestStarted>(&*decoded) : nullptr;
    return started != nullptr && billing::moves_money(started->step);
  });
}

}  // namespace

CaseMachine::CaseMachine(CaseWorld& world, CaseNode& node, EntityType type, PersistenceId id)
    : MachinePump(std::move(type), std::move(id), WriterId{node.name}),
      world_(world),
      node_(node) {}

void CaseMachine::start() {
  if (world_.journal().barrier_pending()) {
    const auto raised = world_.journal().barrier();
    if (!raised) return;
    node_.epoch = *raised;
  }
  recover(*world_.reader(), ShardNr{}, node_.epoch);
}

bool CaseMachine::work() {
  while (is_up() && has_work() && !died_) {
    if (!outputs_.empty()) {
      Output next = std::move(outputs_.front());
      outputs_.pop_front();
      perform(std::move(next));
    } else {
      Input next = std::move(inputs_.front());
      inputs_.pop_front();
      step(std::move(next));
    }
  }
  return !died_;
}

bool CaseMachine::dies(CrashPoint point) {
  died_ = died_ || world_.reaches(point);
  return died_;
}

Now CaseMachine::now() const {
  Now now;
  now.wall = Timestamp{world_.now().ms + node_.wall_skew_ms};
  now.boottime_ms = world_.now().ms - node_.boot_at_ms;
  now.boot = node_.boot;
  now.provider = node_.provider_time.now(now.boottime_ms);
  return now;
}

bool CaseMachine::offers_permit() {
  if (node_.in_flight >= world_.options_.in_flight_max) return false;
  ++node_.in_flight;
  return true;
}

void CaseMachine::permit_wanted(const output::AcquirePermit& wanted) {
  ++permits_out_;
  node_.permit_queue.emplace_back(id_, wanted.incarnation);
}

void CaseMachine::permit_returned() {
  --node_.in_flight;
}

void CaseMachine::commit(output::Commit commit) {
  const CommitUnit& unit = commit.unit;
  const bool is_claim = claims(unit);
  if (is_claim && dies(CrashPoint::before_claim)) return;
  // A transaction that is cut by a crash leaves nothing, unless a guard of the store was taken out.
  const bool is_whole = !world_.options_.wrap_journal;
  if ((is_claim || !unit.marks.empty()) && is_whole && dies(CrashPoint::inside_claim)) return;
  auto answers = world_.journal().commit({&unit, 1});
  world_.stored();
  died_ = died_ || node_.is_dying;
  if (died_) return;
  const auto* fenced = std::get_if<Fenced>(&answers.front());
  if (fenced != nullptr && fenced->by == Fenced::By::epoch) node_.is_owner = false;
  if (std::holds_alternative<Stored>(answers.front())) {
    if (is_claim && dies(CrashPoint::after_claim)) return;
    if (starts_money(unit) && dies(CrashPoint::after_started)) return;
    if (has_outcome(unit) && dies(CrashPoint::result_stored)) return;
  }
  inputs_.push_back(input::CommitAnswered{commit.incarnation, std::move(answers.front())});
}

void CaseMachine::call(output::Call call) {
  const bool is_money = call.request.operation == Operation::create_charge ||
                        call.request.operation == Operation::confirm_intent;
  world_.note_call(call.request);
  world_.port().call({node_.process, id_}, std::move(call.request), now().boottime_ms,
                     world_.now());
  if (is_money) (void)dies(CrashPoint::on_the_wire);
}

void CaseMachine::replied(output::Reply reply) {
  world_.replied(reply.to, reply.reply);
  (void)dies(CrashPoint::after_reply);
}

void CaseMachine::tells(output::Tell tell) {
  world_.tells(node_, id_, std::move(tell));
}

void CaseMachine::loads(output::Load load) {
  world_.loads(node_, id_, load.query);
}

void CaseMachine::quarantined(const std::string& why) {
  world_.quarantined_.insert(id_);
  (void)world_.journal().quarantine(id_, why, world_.now());
}

}  // namespace onceward::testing

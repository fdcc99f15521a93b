// The world's loop: who acts next, what goes wrong there, and when all has come to rest. What one
// node does with its machines is world_node.cpp.
#include <onceward/harness/world.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "recovery/harness/world_parts.hpp"

namespace onceward::harness {
namespace {

constexpr std::uint64_t steps_max = 5'000;
// After this long without a fault the provider decides what it still holds.
constexpr std::int64_t calm_ms = 6 * 3'600'000;
constexpr std::int64_t late_at_most_ms = 3'600'000;

}  // namespace

Remains::Remains(const Scenario& scenario)
    : histories(scenario.entities.size(), 0),
      provider(scenario.provider()),
      oracles(scenario.oracles()),
      left(scenario.faults),
      now(scenario.starts_at),
      last_fault_at(scenario.starts_at),
      answered(scenario.asks.size(), 0) {
  for (CommitUnit unit : scenario.stored_before) {
    unit.shard = ShardNr{};
    unit.epoch = journal.epoch_of(ShardNr{});
    unit.writer = WriterId{"before"};
    unit.at = now;
    const auto answers = journal.commit({&unit, 1});
    ONCEWARD_CHECK(std::holds_alternative<Stored>(answers.front()),
                   "what a scenario stores before its first command is a legal unit");
  }
}

Remains::Remains(const Remains& o)
    : journal(o.journal),
      histories(o.histories),
      provider(o.provider->clone()),
      oracles(o.oracles),
      left(o.left),
      now(o.now),
      last_fault_at(o.last_fault_at),
      answered(o.answered),
      asked(o.asked),
      owner(o.owner),
      incarnations(o.incarnations),
      counts(o.counts),
      marks(o.marks),
      digest(o.digest) {}

World::World(const Scenario& scenario, Chooser& chooser)
    : World(scenario, chooser, Remains(scenario)) {}

World::World(const Scenario& scenario, Chooser& chooser, const Remains& from)
    : scenario_(scenario), chooser_(chooser), r_(from) {
  r_.journal.script([this] { return next_fate_; });
  reader_ = *r_.journal.reader();
  for (int index = 0; index < 2; ++index) {
    auto node = std::make_unique<Node>();
    node->index = index;
    node->boot = static_cast<std::uint64_t>(index + 1);
    node->boot_at_ms = scenario.starts_at.ms - (index + 1) * 1'000'000;
    node->slots.resize(scenario.entities.size());
    for (std::size_t i = 0; i < node->slots.size(); ++i) node->slots[i].entity = i;
    node->waiting.assign(scenario.asks.size(), 0);
    nodes_.push_back(std::move(node));
  }
}

World::~World() = default;

Now World::now_of(const Node& node) const {
  return {r_.now, r_.now.ms - node.boot_at_ms, node.boot, r_.now};
}

Truth World::truth() {
  return {*r_.provider, r_.journal.barrier_pending() ? nullptr : reader_.get(), scenario_.entities,
          r_.now};
}

void World::mix(std::uint64_t value) noexcept {
  r_.digest = Hash(r_.digest).add(value).value();
}

void World::note(Lane from, Lane to, const std::string& text, bool is_fault) {
  trace_.push_back({r_.now, from, to, is_fault, text, durable()});
}

std::string World::durable() const {
  if (r_.journal.barrier_pending()) return "journal uncertain until the barrier";
  std::string text;
  for (const auto& id : scenario_.entities) {
    std::string events;
    (void)reader_->replay(id, SequenceNr{}, [&](const PersistenceId&, StoredEvent&& e) {
      events += (events.empty() ? "" : " ") + e.event.manifest.name;
      return true;
    });
    text += (text.empty() ? "" : " | ") + id.value() + ": " + (events.empty() ? "-" : events);
  }
  text += " | ledger " + std::to_string(r_.provider->ledger().size());
  return text;
}

void World::broke(std::string invariant, std::string says, std::string what) {
  if (violation_) return;
  violation_ = Violation{std::move(invariant), std::move(says), std::move(what)};
  if (keeps_trace) note(Lane::caller, Lane::caller, "VIOLATION: " + violation_->what, true);
}

void World::check() {
  if (violation_) return;
  for (const auto& oracle : r_.oracles) {
    if (oracle->broken().empty()) continue;
    return broke(std::string(oracle->name()), std::string(oracle->says()), oracle->broken());
  }
}

// Epochs are left out: they are only compared, and a recovery takes a larger one each time.
std::uint64_t World::state_hash() const {
  Hash h;
  for (const std::uint64_t history : r_.histories) h.add(history);
  h.add(r_.provider->state_hash());
  for (const auto& oracle : r_.oracles) h.add(oracle->memory_hash());
  const FaultBounds& left = r_.left;
  for (const int n : {left.crashes, left.ambiguities, left.duplicates, left.lost_replies,
                      left.provider_faults, left.takeovers, left.switches, left.permit_waits}) {
    h.add(static_cast<std::uint64_t>(n));
  }
  h.add(static_cast<std::uint64_t>(r_.now.ms));
  h.add(static_cast<std::uint64_t>(r_.last_fault_at.ms));
  h.add(std::string_view(r_.answered.data(), r_.answered.size()));
  h.add(r_.asked).add(static_cast<std::uint64_t>(r_.owner)).add(healed_ ? 1 : 0);
  h.add(r_.journal.barrier_pending() ? 1 : 0);
  for (const auto& node : nodes_) {
    h.add(node->is_up ? 1 : 0);
    if (!node->is_up) continue;
    h.add(std::string_view(node->waiting.data(), node->waiting.size()));
    h.add(static_cast<std::uint64_t>(node->permits_out)).add(node->told.size());
    for (const auto& slot : node->slots) h.add(slot.memory).add(slot.inputs.size());
  }
  return h.add(static_cast<std::uint64_t>(zombie_ + 1)).add(turn_).value();
}

bool World::remembers_nothing() const {
  return std::none_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->is_up; });
}

int World::choose(const char* label, int options) {
  const int chosen = chooser_.choose(label, options);
  if (chosen != 0) has_branched_ = true;
  return chosen;
}

void World::run() {
  while (!violation_ && !done_) {
    if (++r_.counts.steps > steps_max) {
      return broke("I5", rest_says,
                   "did not come to rest in " + std::to_string(steps_max) + " steps");
    }
    // Only after something unusual can two schedules meet in one state.
    if (std::exchange(has_branched_, false) && !healed_ && chooser_.was_here(state_hash(), *this)) {
      cut_ = true;
      return;
    }
    step_once();
    check();
  }
}

void World::step_once() {
  if (zombie_acts()) return;
  Node& node = *nodes_[static_cast<std::size_t>(r_.owner)];
  if (!node.is_up) {
    // A fresh process raises the epoch before it reads; this also resolves an unknown commit.
    const auto raised = r_.journal.barrier();
    ONCEWARD_CHECK(raised.has_value(), "the memory journal's barrier succeeds");
    node.is_up = true;
    if (keeps_trace)
      note(node.lane(), node.lane(), "starts, epoch " + std::to_string(raised->value));
    for (auto& slot : node.slots) start(node, slot);
    return;
  }
  if (takeover() || duplicate(node)) return;
  if (act(node) || ask_next(node) || wake(node)) return;
  finish();
}

// A frozen node may wake before any step of the other; at the latest when all is quiet.
bool World::zombie_acts() {
  if (zombie_ < 0) return false;
  Node& zombie = *nodes_[static_cast<std::size_t>(zombie_)];
  if (!zombie.has_work()) {
    zombie.die();
    zombie_ = -1;
    return false;
  }
  if (!healed_ && choose("the frozen node wakes for one step", 2) == 0) return false;
  (void)act(zombie);
  return true;
}

bool World::takeover() {
  if (r_.left.takeovers == 0 || zombie_ >= 0) return false;
  if (choose("the owner freezes, another node takes over", 2) == 0) return false;
  --r_.left.takeovers;
  ++r_.counts.takeovers;
  Node& old = *nodes_[static_cast<std::size_t>(r_.owner)];
  zombie_ = r_.owner;
  r_.owner = 1 - r_.owner;
  r_.last_fault_at = r_.now;
  // Taking a shard is one statement that raises its epoch; from here on the old owner is fenced.
  ONCEWARD_CHECK(r_.journal.barrier().has_value(), "the memory journal's barrier succeeds");
  // The callers of the frozen node lose patience and ask the new owner.
  old.waiting.assign(old.waiting.size(), 0);
  if (keeps_trace) note(old.lane(), old.lane(), "freezes with all it has in memory", true);
  return true;
}

World::Slot* World::pick(Node& node) {
  std::vector<Slot*> ready;
  for (std::size_t i = 0; i < node.slots.size(); ++i) {
    Slot& slot = node.slots[(turn_ + i) % node.slots.size()];
    if (slot.has_work()) ready.push_back(&slot);
  }
  if (ready.empty()) return nullptr;
  if (ready.size() == 1 || r_.left.switches == 0 || ready.front()->entity != turn_) {
    turn_ = ready.front()->entity;
    return ready.front();
  }
  const int chosen = choose("another entity goes first", static_cast<int>(ready.size()));
  if (chosen != 0) {
    --r_.left.switches;
    ++r_.counts.switches;
  }
  turn_ = ready[static_cast<std::size_t>(chosen)]->entity;
  return ready[static_cast<std::size_t>(chosen)];
}

bool World::act(Node& node) {
  Slot* slot = pick(node);
  if (slot == nullptr) return false;
  if (!slot->outputs.empty()) {
    Output next = std::move(slot->outputs.front());
    slot->outputs.erase(slot->outputs.begin());
    perform(node, *slot, std::move(next));
  } else {
    Input next = std::move(slot->inputs.front());
    slot->inputs.erase(slot->inputs.begin());
    feed(node, *slot, std::move(next));
  }
  return true;
}

void World::ask(Node& node, std::size_t index, bool again) {
  const Ask& ask = scenario_.asks[index];
  node.waiting[index] = 1;
  mix(100 + index);
  if (keeps_trace) {
    note(Lane::caller, node.lane(), (again ? "asks again: " : "asks: ") + ask.text);
  }
  feed(node, node.slots[ask.entity], input::Command{ask.command, ReplyTo{index + 1}});
}

// First every command once, as they come in together; later those whose callers got no answer.
bool World::ask_next(Node& node) {
  if (r_.asked < scenario_.asks.size()) {
    while (r_.asked < scenario_.asks.size()) ask(node, r_.asked++, false);
    return true;
  }
  for (std::size_t index = 0; index < scenario_.asks.size(); ++index) {
    if (r_.answered[index] != 0 || node.waiting[index] != 0) continue;
    ask(node, index, true);
    return true;
  }
  return false;
}

bool World::duplicate(Node& node) {
  if (r_.left.duplicates == 0 || r_.asked == 0) return false;
  const int chosen = choose("a command arrives again", static_cast<int>(r_.asked) + 1);
  if (chosen == 0) return false;
  --r_.left.duplicates;
  ++r_.counts.duplicates;
  ask(node, static_cast<std::size_t>(chosen - 1), true);
  return true;
}

void World::pass_to(Timestamp at) {
  if (at <= r_.now) return;
  r_.now = at;
  r_.provider->pass(at);
  if (!healed_ && r_.now.ms - r_.last_fault_at.ms > calm_ms) r_.provider->heal();
}

bool World::wake_by_row(Node& node) {
  const auto due = reader_->due(Timestamp{std::numeric_limits<std::int64_t>::max()}, 1);
  if (!due || due->empty()) return false;
  const ObligationRow& row = due->front();
  const auto& ids = scenario_.entities;
  const auto at = std::find(ids.begin(), ids.end(), customer_persistence_id(row.key.customer));
  Slot& slot = node.slots[at == ids.end() ? 0 : static_cast<std::size_t>(at - ids.begin())];
  pass_to(*row.next_action_at);
  if (keeps_trace) note(node.lane(), node.lane(), "the alarm of " + to_display(row.key) + " rings");
  feed(node, slot, input::Wake{});
  return true;
}

// The alarm clock of the node: takes what is due, also if no caller is left.
bool World::wake(Node& node) {
  if (r_.journal.barrier_pending()) return false;
  const std::int64_t limit = r_.last_fault_at.ms + scenario_.rest_within.count();
  if (wake_by_row(node)) {
    if (r_.now.ms > limit) {
      broke("I5", rest_says,
            "still waiting " + std::to_string(scenario_.rest_within.count() / 1000) +
                " s after the last fault");
    }
    return true;
  }
  if (scenario_.wake_every.count() == 0) return false;
  pass_to(r_.now.plus(scenario_.wake_every));
  if (keeps_trace) note(node.lane(), node.lane(), "the alarm rings");
  for (auto& slot : node.slots) feed(node, slot, input::Wake{});
  if (r_.now.ms > limit) broke("I5", rest_says, "still busy long after the last fault");
  return node.has_work();
}

// Quiet. Faults end, the provider decides what it holds, the frozen node wakes for good, and a
// fresh process must find nothing left to do; then the audit.
void World::finish() {
  Node& owner = *nodes_[static_cast<std::size_t>(r_.owner)];
  if (!healed_) {
    healed_ = true;
    r_.left = FaultBounds{};
    r_.provider->heal();
    r_.provider->pass(r_.now.plus(std::chrono::milliseconds{late_at_most_ms}));
    if (keeps_trace) note(Lane::caller, Lane::caller, "faults end");
  }
  if (zombie_ >= 0) return;  // it acts in the next steps
  if (owner.permits_out != 0) {
    return broke("permits", "Every permit is given back.",
                 std::to_string(owner.permits_out) + " permits were not given back");
  }
  if (!std::exchange(restarted_, true)) {
    owner.die();
    if (keeps_trace) note(owner.lane(), owner.lane(), "is stopped; a fresh process looks");
    return;
  }
  done_ = true;
  const Truth now = truth();
  for (const auto& oracle : r_.oracles) oracle->at_rest(now);
  check();
  if (violation_) return;
  for (const auto& mark : scenario_.sometimes) {
    if (r_.marks.count(mark.label) == 0 && mark.holds(now, r_.counts)) r_.marks.insert(mark.label);
  }
  Hash h(r_.digest);
  for (const std::uint64_t history : r_.histories) h.add(history);
  r_.digest = h.add(r_.provider->state_hash()).value();
}

}  // namespace onceward::harness

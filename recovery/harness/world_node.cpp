// One node: outputs of a machine in their order, every durable step, send, answer and reply a place
// to die.
#include <algorithm>
#include <utility>

#include "recovery/harness/world_parts.hpp"

namespace onceward::harness {
namespace {

std::uint64_t hash_of(const ExternalAnswer& answer) {
  Hash h;
  h.add(answer.key.value()).add(static_cast<std::uint64_t>(answer.operation));
  h.add(static_cast<std::uint64_t>(answer.observation)).add(answer.code).add(answer.decline_code);
  for (const auto& object : answer.objects) {
    h.add(object.id).add(object.status).add(static_cast<std::uint64_t>(object.amount_minor));
  }
  return h.add(answer.single_wire_send ? 1 : 0).value();
}

// Stable over two runs; heads and epochs are left out, see World::state_hash.
std::uint64_t hash_of(const Input& input) {
  Hash h;
  h.add(input.index());
  if (const auto* answer = std::get_if<input::CallAnswered>(&input)) {
    h.add(hash_of(answer->answer));
  } else if (const auto* command = std::get_if<input::Command>(&input)) {
    h.add(command->reply_to.value).add(command->accepted ? 1 : 0);
  } else if (const auto* commit = std::get_if<input::CommitAnswered>(&input)) {
    h.add(commit->answer.index());
  } else if (const auto* replayed = std::get_if<input::Replayed>(&input)) {
    for (const auto& event : replayed->events) h.add(event.event.payload);
  }
  return h.value();
}

std::uint64_t hash_of(const CommitUnit& unit, std::uint64_t before) {
  Hash h(before);
  for (const auto& event : unit.events) h.add(event.manifest.name).add(event.payload);
  for (const auto& row : unit.rows) {
    h.add(row.row.key.period.text()).add(static_cast<std::uint64_t>(row.row.status));
    h.add(row.row.charge_id).add(row.row.reason).add(row.row.attempt);
    h.add(static_cast<std::uint64_t>(row.row.next_action_at ? row.row.next_action_at->ms : -1));
  }
  for (const auto& mark : unit.marks) h.add(mark.scope).add(mark.key);
  for (const auto& cap : unit.caps) h.add(static_cast<std::uint64_t>(cap.kind)).add(cap.attempt);
  return h.value();
}

std::string names_of(const CommitUnit& unit) {
  std::string text;
  for (const auto& event : unit.events) {
    text += (text.empty() ? "" : ", ") + event.manifest.name;
  }
  return text.empty() ? "a unit without events" : text;
}

std::string text_of(const CommitAnswer& answer) {
  static constexpr const char* names[] = {"stored",           "refused: the claim exists",
                                          "refused: cap",     "refused: mark",
                                          "refused: invalid", "fenced",
                                          "unknown"};
  return names[answer.index()];
}

bool applies_to_look_up(Fate fate) {
  return fate == Fate::lost_before || fate == Fate::not_sent || fate == Fate::failed_500 ||
         fate == Fate::limited;
}

}  // namespace

bool World::dies(Node& node, const char* place) {
  ++r_.counts.crash_points;
  if (r_.left.crashes == 0 || node.index == zombie_) return false;
  const int chosen = choose(place, static_cast<int>(r_.left.downtimes.size()) + 1);
  if (chosen == 0) return false;
  --r_.left.crashes;
  ++r_.counts.crashes;
  mix(200);
  if (keeps_trace) note(node.lane(), node.lane(), std::string("CRASH ") + place, true);
  node.die();
  const auto downtime = r_.left.downtimes[static_cast<std::size_t>(chosen - 1)];
  pass_to(r_.now.plus(downtime));
  r_.last_fault_at = r_.now;
  if (keeps_trace && downtime.count() > 0) {
    note(node.lane(), node.lane(),
         "down for " + std::to_string(downtime.count() / 60'000) + " min");
  }
  return true;
}

Fate World::fate_of(const ExternalRequest& request) {
  if (r_.left.provider_faults == 0) return Fate::ok;
  const bool reads = is_look_up(request.operation);
  std::vector<Fate> fates = {Fate::ok};
  for (const Fate fate : r_.left.fates) {
    if (!reads || applies_to_look_up(fate)) fates.push_back(fate);
  }
  if (fates.size() == 1) return Fate::ok;
  const int chosen =
      choose(reads ? "a look-up fails" : "a request fails", static_cast<int>(fates.size()));
  if (chosen == 0) return Fate::ok;
  --r_.left.provider_faults;
  ++r_.counts.provider_faults;
  r_.last_fault_at = r_.now;
  return fates[static_cast<std::size_t>(chosen)];
}

void World::start(Node& node, Slot& slot) {
  const PersistenceId& id = scenario_.entities[slot.entity];
  if (r_.journal.barrier_pending()) {
    ONCEWARD_CHECK(r_.journal.barrier().has_value(), "the memory journal's barrier succeeds");
  }
  auto answers = std::exchange(slot.answers_in_hand, {});
  auto commands = std::exchange(slot.commands_in_hand, {});
  slot.memory = 1;
  slot.machine = scenario_.type.create(
      {id, ShardNr{}, Incarnation{++r_.incarnations}, WriterId{std::string(to_text(node.lane()))}});
  std::vector<StoredEvent> events;
  auto end = reader_->replay(id, SequenceNr{}, [&events](const PersistenceId&, StoredEvent&& e) {
    events.push_back(std::move(e));
    return true;
  });
  if (!end) {
    return broke("I7", "A history is gapless, in one chain, and is read back as it was written.",
                 end.error().context);
  }
  for (const auto& oracle : r_.oracles) oracle->recovered({id, *end}, truth());
  feed(node, slot, input::Replayed{std::move(events)});
  if (std::any_of(slot.outputs.begin(), slot.outputs.end(), [](const Output& output) {
        return !std::holds_alternative<output::Stop>(output);
      })) {
    return broke("I9", "A replay has no effect; only the explicit resume has.",
                 "the replay of " + id.value() + " had an effect");
  }
  for (auto& answer : answers) feed(node, slot, input::CallAnswered{std::move(answer)});
  for (auto& command : commands) feed(node, slot, std::move(command));
  feed(node, slot, input::RecoveryDone{end->last, end->head, end->epoch});
}

void World::feed(Node& node, Slot& slot, Input input) {
  if (!slot.machine || slot.machine->is_stopped()) return;
  const bool offers = std::holds_alternative<input::Command>(input) ||
                      std::holds_alternative<input::CallAnswered>(input) ||
                      std::holds_alternative<input::RecoveryDone>(input) ||
                      std::holds_alternative<input::Wake>(input);
  bool offered = offers;
  if (offers && r_.left.permit_waits > 0 && choose("no permit is free", 2) == 1) {
    --r_.left.permit_waits;
    ++r_.counts.permit_waits;
    offered = false;
  }
  slot.memory = Hash(slot.memory).add(hash_of(input)).add(offered ? 1 : 0).value();
  slot.memory = Hash(slot.memory).add(static_cast<std::uint64_t>(r_.now.ms)).value();
  mix(slot.memory);
  if (offered) ++node.permits_out;
  slot.machine->step(std::move(input), StepContext{now_of(node), offered}, slot.outputs);
}

void World::perform(Node& node, Slot& slot, Output output) {
  slot.memory = Hash(slot.memory).add(300 + output.index()).value();
  if (auto* commit_out = std::get_if<output::Commit>(&output)) {
    commit(node, slot, std::move(*commit_out));
  } else if (auto* call_out = std::get_if<output::Call>(&output)) {
    call(node, slot, std::move(*call_out));
  } else if (const auto* acquire = std::get_if<output::AcquirePermit>(&output)) {
    ++node.permits_out;
    slot.inputs.push_back(input::PermitGranted{acquire->incarnation});
  } else if (std::holds_alternative<output::ReleasePermit>(output)) {
    --node.permits_out;
  } else if (const auto* reply = std::get_if<output::Reply>(&output)) {
    tell(node, slot, *reply);
  } else if (auto* stopped = std::get_if<output::Stop>(&output)) {
    stop(node, slot, std::move(*stopped));
  } else if (auto* told = std::get_if<output::Tell>(&output)) {
    tell_entity(node, slot, std::move(*told));
  } else {
    broke("scenario", "A scenario answers what its entity asks for.",
          "the entity asked for a Load, which this world cannot answer");
  }
}

void World::tell_entity(Node& node, const Slot& from, output::Tell told) {
  const auto& ids = scenario_.entities;
  const auto at = std::find(ids.begin(), ids.end(), told.to);
  if (at == ids.end() || !scenario_.tell_result) {
    return broke("scenario", "A scenario answers what its entity asks for.",
                 "a Tell to " + told.to.value() +
                     ", which is no entity of the scenario or has no tell_result");
  }
  if (keeps_trace) note(node.lane(), node.lane(), "tells " + told.to.value());
  node.told.push_back({from.entity, told.correlation});
  feed(node, node.slots[static_cast<std::size_t>(at - ids.begin())],
       input::Command{std::move(told.command), ReplyTo{first_tell + node.told.size() - 1}});
}

void World::stop(Node& node, Slot& slot, output::Stop stop) {
  if (stop.why == output::Stop::Why::quarantine) {
    if (keeps_trace) note(node.lane(), node.lane(), "quarantined: " + stop.error.context, true);
    return broke("I17", "No entity is quarantined while nobody damages its data.",
                 "quarantined: " + stop.error.context);
  }
  if (keeps_trace) note(node.lane(), node.lane(), "stops to recover: " + stop.error.context);
  if (node.index == zombie_) return slot.forget();
  slot.answers_in_hand = std::move(stop.answers_in_hand);
  slot.commands_in_hand = std::move(stop.commands_in_hand);
  slot.inputs.clear();
  slot.outputs.clear();
  start(node, slot);
}

void World::commit(Node& node, Slot& slot, output::Commit commit) {
  if (dies(node, "before a commit")) return;
  CommitUnit& unit = commit.unit;
  const bool by_owner = node.index == r_.owner;
  const Epoch asked_under = unit.epoch;
  if (scenario_.without.epoch) unit.epoch = r_.journal.epoch_of(unit.shard);
  if (scenario_.without.claim && !r_.journal.barrier_pending()) {
    for (auto& row : unit.rows) {
      const auto existing = reader_->row(row.row.key);
      if (existing && *existing) row.kind = RowWrite::Kind::update;
    }
  }
  next_fate_ = journal::CommitFate::normal;
  const bool was_uncertain = r_.journal.barrier_pending();
  if (r_.left.ambiguities > 0 && by_owner && !was_uncertain) {
    const int fate = choose("a commit is not answered (1 stored, 2 lost)", 3);
    if (fate > 0) {
      --r_.left.ambiguities;
      ++r_.counts.ambiguities;
      r_.last_fault_at = r_.now;
    }
    next_fate_ = static_cast<journal::CommitFate>(fate);
  }
  auto answers = r_.journal.commit({&unit, 1});
  const bool stored = std::holds_alternative<Stored>(answers.front()) ||
                      (std::holds_alternative<CommitUnknown>(answers.front()) && !was_uncertain &&
                       next_fate_ == journal::CommitFate::stored_unanswered);
  if (stored) r_.histories[slot.entity] = hash_of(unit, r_.histories[slot.entity]);
  mix(answers.front().index());
  if (keeps_trace) {
    note(node.lane(), Lane::journal,
         "commit " + names_of(unit) + ": " + text_of(answers.front()) +
             (stored && !std::holds_alternative<Stored>(answers.front()) ? " (stored)" : ""),
         next_fate_ != journal::CommitFate::normal);
  }
  unit.epoch = asked_under;
  for (const auto& oracle : r_.oracles) {
    oracle->committed({unit, answers.front(), stored, by_owner}, truth());
  }
  if (dies(node, "after a commit")) return;
  slot.inputs.push_back(input::CommitAnswered{commit.incarnation, std::move(answers.front())});
}

void World::call(Node& node, Slot& slot, output::Call call) {
  --node.permits_out;
  if (dies(node, "before a send")) return;
  const ExternalRequest& request = call.request;
  // What the provider port does: past its not_after nothing is put on the wire.
  const bool is_too_late = now_of(node).boottime_ms > request.not_after_boottime_ms;
  const PersistenceId& id = scenario_.entities[slot.entity];
  Fate fate = Fate::not_sent;
  if (!is_too_late) {
    for (const auto& oracle : r_.oracles) oracle->sending({id, request}, truth());
    fate = fate_of(request);
  }
  ExternalAnswer answer = r_.provider->handle(request, fate, r_.now);
  mix(hash_of(answer));
  if (keeps_trace) {
    note(node.lane(), Lane::provider,
         std::string(to_text(request.operation)) + " " + request.target + " key " +
             request.key.value().substr(0, 8) + " -> " + std::string(to_text(answer.observation)) +
             (fate == Fate::ok ? "" : " (" + std::string(to_text(fate)) + ")"),
         fate != Fate::ok);
  }
  for (const auto& oracle : r_.oracles) oracle->answered({id, request, answer}, truth());
  if (dies(node, "after the provider, before its answer")) return;
  slot.memory = Hash(slot.memory).add(hash_of(answer)).value();
  slot.inputs.push_back(input::CallAnswered{std::move(answer)});
}

void World::tell(Node& node, Slot& slot, const output::Reply& reply) {
  if (reply.to.value >= first_tell) {
    const auto index = static_cast<std::size_t>(reply.to.value - first_tell);
    if (index >= node.told.size()) return;
    const Node::Told told = node.told[index];
    return feed(node, node.slots[told.from],
                input::Command{scenario_.tell_result(told.correlation, reply.reply), ReplyTo{},
                               false, true});
  }
  const auto index = static_cast<std::size_t>(reply.to.value - 1);
  if (dies(node, "before a reply")) return;
  ReplyFacts facts = scenario_.read_reply(reply.reply);
  mix(static_cast<std::uint64_t>(facts.claim));
  bool lost = false;
  if (r_.left.lost_replies > 0 && choose("a reply is lost", 2) == 1) {
    --r_.left.lost_replies;
    ++r_.counts.lost_replies;
    r_.last_fault_at = r_.now;
    lost = true;
  }
  if (keeps_trace) {
    note(node.lane(), Lane::caller, (lost ? "reply lost: " : "replies: ") + facts.text, lost);
  }
  if (reply.last) node.waiting[index] = 0;
  if (lost) return;
  if (facts.claim != ReplyFacts::Claim::ask_again) r_.answered[index] = 1;
  for (const auto& oracle : r_.oracles) {
    oracle->replied({scenario_.entities[slot.entity], index, facts}, truth());
  }
  (void)dies(node, "after a reply");
}

}  // namespace onceward::harness

// Decisions of the test entity.
#include "tests/actors/counter_entity.hpp"

#include <stdexcept>
#include <utility>

#include <onceward/core/entity_type.hpp>

namespace onceward::actors::testing {

namespace {

using Kind = CounterEvent::Kind;
using Decided = CounterDecider::Decided;

constexpr std::chrono::milliseconds watchdog{3'600'000};
constexpr std::chrono::milliseconds look_up_after{20};

constexpr std::array<const char*, 7> kind_names = {"Initiated", "Sent",  "Doubtful", "Settled",
                                                   "Told",      "Heard", "Poisoned"};

ExternalRequest request(const CounterState& state, const std::string& period, Operation operation) {
  ExternalRequest out;
  out.key = counter_key(state.id, period);
  out.operation = operation;
  out.target = operation == Operation::get_charge ? out.key.value() : "";
  return out;
}

// Begins or repeats the POST of a period; `first`: the claim is part of it.
Decided send(const CounterState& state, const std::string& period, const Context& context,
             bool first) {
  Decided out;
  if (first) out.events.push_back({Kind::initiated, period});
  if (context.permit) {
    out.events.push_back({Kind::sent, period});
    out.effects.push_back(CallProvider{request(state, period, Operation::create_charge)});
  } else {
    out.wants_permit = true;
  }
  if (out.events.empty()) return out;
  out.rows.push_back({first ? RowWrite::Kind::claim : RowWrite::Kind::update,
                      counter_row(state.id, period, ObligationStatus::in_progress,
                                  context.now.wall.plus(watchdog))});
  return out;
}

Decided settle(const CounterState& state, const Settle& command, const Context& context) {
  const auto known = state.periods.find(command.period);
  if (known != state.periods.end() && known->second.settled) {
    Decided out;
    out.reply = CounterReply{"settled"};
    return out;
  }
  Decided out;
  if (known == state.periods.end()) out = send(state, command.period, context, true);
  out.wait = command.wait;
  if (command.twice) out.reply = CounterReply{"accepted"};
  if (!command.wait) out.reply = CounterReply{"in_progress"};
  return out;
}

CounterReply look(const CounterState& state) {
  std::size_t settled = 0;
  for (const auto& [name, period] : state.periods) settled += period.settled ? 1 : 0;
  std::string text = std::to_string(settled);
  for (const auto& heard : state.heard) text += " " + heard;
  return {text};
}

}  // namespace

Decided CounterDecider::decide(const State& state, const Command& command,
                               const Context& context) const {
  if (const auto* bill = std::get_if<Settle>(&command)) return settle(state, *bill, context);
  Decided out;
  if (const auto* other = std::get_if<TellOther>(&command)) {
    out.effects.push_back(Tell{other->to, Command{Settle{other->period}}, 7});
    out.reply = Reply{"telling"};
  } else if (const auto* text = std::get_if<LoadText>(&command)) {
    out.effects.push_back(Load{text->query});
    out.reply = Reply{"loading"};
  } else if (const auto* told = std::get_if<Told>(&command)) {
    out.events.push_back({Kind::told, told->text});
  } else if (const auto* loaded = std::get_if<Loaded>(&command)) {
    out.events.push_back({Kind::loaded, loaded->text});
  } else if (std::holds_alternative<Look>(command)) {
    out.reply = look(state);
  } else if (const auto* bad = std::get_if<Throw>(&command)) {
    if (switches_->thrown.fetch_add(1) < bad->times) throw std::runtime_error("told to throw");
    out.reply = Reply{"fine"};
  } else if (std::holds_alternative<Poison>(command)) {
    out.events.push_back({Kind::poisoned, "-"});
    out.reply = Reply{"poisoned"};
  }
  return out;
}

Decided CounterDecider::decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const {
  Decided out;
  for (const auto& [period, known] : state.periods) {
    if (known.settled || counter_key(state.id, period) != answer.key) continue;
    if (answer.observation == Observation::object) {
      out.events.push_back({Kind::settled, period});
      auto row = counter_row(state.id, period, ObligationStatus::completed, std::nullopt);
      row.charge_id = answer.objects.front().id;
      out.rows.push_back({RowWrite::Kind::update, std::move(row)});
    } else if (answer.observation == Observation::not_found) {
      return send(state, period, context, false);
    } else if (!known.doubtful) {
      out.events.push_back({Kind::doubtful, period});
      out.rows.push_back(
          {RowWrite::Kind::update, counter_row(state.id, period, ObligationStatus::unknown,
                                               context.now.wall.plus(look_up_after))});
    }
  }
  return out;
}

Decided CounterDecider::resume(const State& state, const Context& context) const {
  if (switches_->throw_in_resume) throw std::runtime_error("told to throw in resume");
  for (const auto& [period, known] : state.periods) {
    if (known.settled || context.in_flight(counter_key(state.id, period))) continue;
    if (!known.sent) return send(state, period, context, false);
    Decided out;  // sent, and nobody knows what became of it
    if (context.permit) {
      out.effects.push_back(CallProvider{request(state, period, Operation::get_charge)});
    } else {
      out.wants_permit = true;
    }
    return out;
  }
  return {};
}

Result<Unit> CounterDecider::evolve(State& state, const Event& event) const {
  switch (event.kind) {
    case Kind::initiated:
      state.periods[event.text];
      return ok();
    case Kind::sent:
      state.periods[event.text].sent = true;
      return ok();
    case Kind::doubtful:
      state.periods[event.text].doubtful = true;
      return ok();
    case Kind::settled:
      state.periods[event.text].settled = true;
      return ok();
    case Kind::told:
    case Kind::loaded:
      state.heard.push_back(event.text);
      return ok();
    case Kind::poisoned:
      throw std::runtime_error("this event is poison");
  }
  return fail(ErrorCode::impossible_transition, "no such event");
}

std::optional<CounterReply> CounterDecider::answer_waiter(const State& state,
                                                          const Command& command) const {
  const auto* bill = std::get_if<Settle>(&command);
  if (bill == nullptr) return std::nullopt;
  const auto known = state.periods.find(bill->period);
  if (known == state.periods.end() || !known->second.settled) return std::nullopt;
  return Reply{"settled"};
}

CounterReply CounterDecider::turn_down(const Command&, Turndown why) const {
  switch (why) {
    case Turndown::busy:
      return {"busy"};
    case Turndown::uncertain:
      return {"uncertain"};
    case Turndown::quarantined:
      return {"quarantined"};
    case Turndown::invalid:
      return {"invalid"};
  }
  return {};
}

PersistenceId counter_id(const std::string& name) {
  return customer_persistence_id(parse_customer_id(name).value());
}

IdempotencyKey counter_key(const PersistenceId& id, const std::string& period) {
  return IdempotencyKey{id.value() + "@" + period};
}

ObligationRow counter_row(const PersistenceId& id, const std::string& period,
                          ObligationStatus status, std::optional<Timestamp> next) {
  ObligationRow row;
  row.key = {customer_of(id).value(), BillingPeriod::parse(period).value(),
             parse_purpose("").value()};
  row.status = status;
  row.amount = Money{100, Currency::parse("eur").value()};
  row.next_action_at = next;
  return row;
}

EncodedEvent encode_counter_event(const CounterEvent& event) {
  return {{kind_names.at(static_cast<std::size_t>(event.kind)), 1},
          "{\"text\":\"" + event.text + "\"}"};
}

EntityType counter_type(std::shared_ptr<CounterSwitches> switches) {
  const auto decode = [](const EncodedEvent& event) -> Result<CounterEvent> {
    for (std::size_t nr = 0; nr < kind_names.size(); ++nr) {
      if (event.manifest.name != kind_names.at(nr)) continue;
      return CounterEvent{static_cast<Kind>(nr),
                          event.payload.substr(9, event.payload.size() - 11)};
    }
    return fail(ErrorCode::unknown_manifest, "no event is called " + event.manifest.name);
  };
  return make_entity_type<CounterDecider>(
      "counter", std::make_shared<const CounterDecider>(std::move(switches)),
      EventCodec<CounterEvent>{&encode_counter_event, decode});
}

}  // namespace onceward::actors::testing

// A usage meter: it counts what a customer uses and buys a block of 100 units from a supplier
// whenever more was used than was bought. Buying cannot be taken back: each block once, whatever
// crashes. An entity of one's own, as an example for the harness.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <onceward/core/entity_type.hpp>

namespace meter {

using onceward::CallProvider;
using onceward::Context;
using onceward::Decision;
using onceward::EncodedEvent;
using onceward::ErrorCode;
using onceward::EventCodec;
using onceward::ExternalAnswer;
using onceward::ExternalRequest;
using onceward::fail;
using onceward::IdempotencyKey;
using onceward::Observation;
using onceward::ok;
using onceward::Operation;
using onceward::PersistenceId;
using onceward::Result;
using onceward::Turndown;
using onceward::Unit;

inline constexpr int units_per_block = 100;

/// `id` is chosen by the sender and repeated with the command.
struct Read {
  std::string id;
  int units = 0;
};
struct Counted {
  int total = 0;
};
struct TryAgain {};
using Reply = std::variant<Counted, TryAgain>;

struct UsageCounted {
  std::string id;
  int units = 0;
};
/// About to buy block `block`: stored before each send.
struct BuyingStarted {
  int block = 0;
  std::string key;
};
struct BlockBought {
  int block = 0;
};
using Event = std::variant<UsageCounted, BuyingStarted, BlockBought>;

struct State {
  std::string name;
  int total = 0;
  int bought = 0;
  int sends = 0;  ///< of the block that is being bought
  std::optional<std::string> open_key;
  std::set<std::string> readings;
};

class Meter {
 public:
  using State = meter::State;
  using Event = meter::Event;
  using Command = Read;
  using Reply = meter::Reply;
  using Decided = Decision<Event, Reply>;

  /// `has_bug`: every send gets a key of its own, so that the supplier takes a repeat for a new
  /// order. It works as long as nothing goes wrong.
  explicit Meter(bool has_bug) : has_bug_(has_bug) {}

  [[nodiscard]] State initial(const PersistenceId& id) const {
    State state;
    state.name = id.value();
    return state;
  }
  [[nodiscard]] Decided decide(const State& state, const Read& read, const Context& context) const {
    Decided decided;
    State next = state;
    if (state.readings.count(read.id) == 0) {
      decided.events.emplace_back(UsageCounted{read.id, read.units});
      next.total += read.units;
    }
    decided.reply = Counted{next.total};
    buy(next, context, decided);
    return decided;
  }
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const {
    Decided decided;
    if (!state.open_key || answer.key.value() != *state.open_key) return decided;
    const bool done = answer.observation == Observation::object && answer.objects.size() == 1 &&
                      answer.objects[0].status == "succeeded";
    State next = state;
    if (done) {
      decided.events.emplace_back(BlockBought{state.bought + 1});
      (void)evolve(next, decided.events.back());
    }
    buy(next, context, decided);
    return decided;
  }
  /// What is owed follows from the state alone: after a crash this is all that is called.
  [[nodiscard]] Decided resume(const State& state, const Context& context) const {
    Decided decided;
    buy(state, context, decided);
    return decided;
  }
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const {
    if (const auto* counted = std::get_if<UsageCounted>(&event)) {
      state.readings.insert(counted->id);
      state.total += counted->units;
    } else if (const auto* started = std::get_if<BuyingStarted>(&event)) {
      if (started->block != state.bought + 1) {
        return fail(ErrorCode::impossible_transition, "a block is bought out of order");
      }
      state.open_key = started->key;
      ++state.sends;
    } else {
      state.bought = std::get<BlockBought>(event).block;
      state.open_key.reset();
      state.sends = 0;
    }
    return ok();
  }
  [[nodiscard]] std::optional<Reply> answer_waiter(const State&, const Read&) const {
    return std::nullopt;
  }
  [[nodiscard]] Reply turn_down(const Read&, Turndown) const { return TryAgain{}; }

 private:
  void buy(const State& state, const Context& context, Decided& decided) const {
    if (state.total <= state.bought * units_per_block) return;
    if (state.open_key && context.in_flight(IdempotencyKey{*state.open_key})) return;
    if (!context.permit) {
      decided.wants_permit = true;
      return;
    }
    const int block = state.bought + 1;
    std::string key = state.name + "#" + std::to_string(block);
    if (has_bug_) key += "." + std::to_string(state.sends);
    decided.events.emplace_back(BuyingStarted{block, key});
    ExternalRequest request;
    request.key = IdempotencyKey{key};
    request.operation = Operation::create_charge;
    request.params = {{"amount", "500"},
                      {"currency", "usd"},
                      {"customer", state.name},
                      {"metadata[block]", state.name + "#" + std::to_string(block)}};
    request.not_after_boottime_ms = context.now.boottime_ms + 60'000;
    decided.effects.emplace_back(CallProvider{std::move(request)});
  }

  bool has_bug_;
};

// Stored as JSON; ids and keys are plain words here, so nothing needs escaping.
inline EncodedEvent encode(const Event& event) {
  if (const auto* counted = std::get_if<UsageCounted>(&event)) {
    return {{"UsageCounted", 1},
            R"({"units":)" + std::to_string(counted->units) + R"(,"id":")" + counted->id + "\"}"};
  }
  if (const auto* started = std::get_if<BuyingStarted>(&event)) {
    return {{"BuyingStarted", 1},
            R"({"block":)" + std::to_string(started->block) + R"(,"key":")" + started->key + "\"}"};
  }
  return {{"BlockBought", 1},
          R"({"block":)" + std::to_string(std::get<BlockBought>(event).block) + "}"};
}

inline Result<Event> decode(const EncodedEvent& stored) {
  const auto& [name, version] = stored.manifest;
  int number = 0;
  char text[200] = "";
  const char* payload = stored.payload.c_str();
  if (version == 1 && name == "UsageCounted" &&
      std::sscanf(payload, R"({"units":%d,"id":"%199[^"]"})", &number, text) == 2) {
    return Event{UsageCounted{text, number}};
  }
  if (version == 1 && name == "BuyingStarted" &&
      std::sscanf(payload, R"({"block":%d,"key":"%199[^"]"})", &number, text) == 2) {
    return Event{BuyingStarted{number, text}};
  }
  if (version == 1 && name == "BlockBought" &&
      std::sscanf(payload, R"({"block":%d})", &number) == 1) {
    return Event{BlockBought{number}};
  }
  return fail(ErrorCode::unknown_manifest, "no event " + name + " of that version or form");
}

inline EventCodec<Event> codec() {
  return {encode, decode};
}

}  // namespace meter

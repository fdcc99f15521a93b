// InboxEntity: the hints about one object at the provider that belongs to no obligation of ours.
// Records and counts them for an operator; asks the provider nothing and moves no money. A second
// user of the machine beside the billing entity, on the same journal.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include <onceward/billing/hint_commands.hpp>
#include <onceward/core/entity_type.hpp>

namespace onceward::billing {

/// A hint was stored; the object is open for an operator.
struct HintStored {
  Timestamp at;
  std::string event_id;
  std::string type;
  HintedKind kind = HintedKind::payment_intent;
  std::string about;
  friend bool operator==(const HintStored&, const HintStored&) = default;
};
/// An operator has dealt with the object.
struct InboxResolved {
  Timestamp at;
  std::string who;
  std::string why;
  friend bool operator==(const InboxResolved&, const InboxResolved&) = default;
};
using InboxEvent = std::variant<HintStored, InboxResolved>;

/// JSON codec; see docs/event-format.md.
[[nodiscard]] EventCodec<InboxEvent> inbox_event_codec();

/// Applies one event; impossible_transition for a resolution of an object without hints.
[[nodiscard]] Result<Unit> evolve_inbox(InboxItem& item, const InboxEvent& event);

/// Thread-safe and immutable. Persistence ids are `inbox/<object>`.
class InboxEntity {
 public:
  using State = InboxItem;
  using Event = InboxEvent;
  using Command = InboxCommand;
  using Reply = InboxReply;
  using Decided = Decision<Event, Reply>;

  [[nodiscard]] State initial(const PersistenceId& id) const;
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const;
  /// Nothing is ever asked, so nothing is answered.
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const;
  /// Nothing is ever owed: the next step is an operator's.
  [[nodiscard]] Decided resume(const State& state, const Context& context) const;
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const;
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const;
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const;
};

/// The entity type "inbox" with its JSON codec.
[[nodiscard]] EntityType inbox_entity_type();

}  // namespace onceward::billing

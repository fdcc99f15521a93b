// QuarantineEntity: the record of who lifted the quarantine of one entity, and why. It stands in a
// history of its own, because nothing is written to the history that was under suspicion. Asks the
// provider nothing and moves no money.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <onceward/core/entity_type.hpp>

namespace onceward::billing {

/// Quarantine of an entity in whose store a caller's key has outlived the obligation it was for:
/// something that was recorded is gone, and so may a charge be. Never lifted.
inline constexpr std::string_view lost_obligation =
    "a caller's key is recorded without its "
    "obligation";

/// An operator vouches for the entity. Whether its history is sound is the sender's to check first;
/// the quarantine itself is removed only after this is durable.
struct LiftQuarantine {
  std::optional<Mark> mark;  ///< of the operator's request id
  std::string quarantined_for;
  Timestamp quarantined_since;
  std::string who;
  std::string why;  ///< required: journaled
};
using QuarantineCommand = std::variant<LiftQuarantine>;

/// The quarantine that began at `since` was lifted.
struct QuarantineLifted {
  Timestamp at;
  Timestamp since;
  std::string quarantined_for;
  std::string who;
  std::string why;
  friend bool operator==(const QuarantineLifted&, const QuarantineLifted&) = default;
};
using QuarantineEvent = std::variant<QuarantineLifted>;

struct QuarantineRecord {
  PersistenceId entity;     ///< that was quarantined
  std::uint64_t lifts = 0;  ///< all of them
  std::optional<QuarantineLifted> last;
  friend bool operator==(const QuarantineRecord&, const QuarantineRecord&) = default;
};

/// Durable before it is told.
struct QuarantineTold {
  QuarantineRecord record;
};
/// Without who or why, or with a used mark of another content; nothing was stored.
struct QuarantineRefused {
  std::string detail;
};
/// Not decided, or not known whether it was recorded.
struct QuarantineTurnedDown {
  Turndown why = Turndown::busy;
};
using QuarantineReply = std::variant<QuarantineTold, QuarantineRefused, QuarantineTurnedDown>;

/// `quarantine/<persistence id>`: injective, since the prefix is fixed.
[[nodiscard]] PersistenceId quarantine_persistence_id(const PersistenceId& entity);

/// JSON codec; see docs/event-format.md.
[[nodiscard]] EventCodec<QuarantineEvent> quarantine_event_codec();

/// Thread-safe and immutable. Persistence ids are `quarantine/<persistence id>`.
class QuarantineEntity {
 public:
  using State = QuarantineRecord;
  using Event = QuarantineEvent;
  using Command = QuarantineCommand;
  using Reply = QuarantineReply;
  using Decided = Decision<Event, Reply>;

  [[nodiscard]] State initial(const PersistenceId& id) const;
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const;
  /// Nothing is ever asked, so nothing is answered.
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const;
  /// Nothing is ever owed.
  [[nodiscard]] Decided resume(const State& state, const Context& context) const;
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const;
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const;
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const;
};

/// The entity type "quarantine" with its JSON codec.
[[nodiscard]] EntityType quarantine_entity_type();

}  // namespace onceward::billing

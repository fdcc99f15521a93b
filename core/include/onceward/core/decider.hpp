// Decider: the shape of an entity. Decisions are data; the machine alone orders them. Everything
// here is pure: no clock, randomness, I/O or globals; the context carries all an entity may know.
#pragma once

#include <algorithm>
#include <any>
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <onceward/core/commit_unit.hpp>
#include <onceward/core/external_call.hpp>

namespace onceward {

/// Why the journal refused the unit of the decision before this one, given back to the decider.
using Refusal = std::variant<ClaimRefused, CapRefused, MarkRefused>;

/// What a decision may depend on besides state and input. Borrowed; valid during the call only.
struct Context {
  Now now;
  /// True if one provider call may be started by this decision (the permit is already held).
  bool permit = false;
  /// Set when the same input is decided again because its unit was refused.
  const Refusal* refusal = nullptr;
  /// Keys of calls of this incarnation that have no answer yet.
  const std::vector<IdempotencyKey>* calls_in_flight = nullptr;

  [[nodiscard]] bool in_flight(const IdempotencyKey& key) const {
    return calls_in_flight != nullptr && std::find(calls_in_flight->begin(), calls_in_flight->end(),
                                                   key) != calls_in_flight->end();
  }
};

/// A call to the provider, released only after the decision's unit is stored.
struct CallProvider {
  ExternalRequest request;
};
/// A command for another entity, released after the unit is stored; at-least-once is the receiver's
/// guard. Its reply comes back as a command made by `TellResult` of the runtime.
struct Tell {
  PersistenceId to;
  std::any command;
  std::uint64_t correlation = 0;
};
/// A read of stored data that the entity needs for its next decision (e.g. the next rows of a
/// plan). The shell answers with a command; `query` is understood by the shell's loader alone.
struct Load {
  std::any query;
};
using Effect = std::variant<CallProvider, Tell, Load>;

/// Note of a decider whose state has no transient part.
struct NoNote {};

/// What an entity decided. Empty = nothing to store, nothing to do.
template <class Event, class Reply, class Note = NoNote>
struct Decision {
  std::vector<Event> events;
  std::vector<RowWrite> rows;
  std::vector<RefundRow> refunds;
  std::vector<Mark> marks;
  std::vector<CapOp> caps;
  std::vector<CapLimit> limits;
  /// At most one CallProvider per decision, and only if Context::permit was true.
  std::vector<Effect> effects;
  /// Changes of the state's transient part, taken in order after the events, once the unit is
  /// stored (at once if there is nothing to store). Never encoded and never stored: they are lost
  /// with the incarnation and dropped with a refused or unknown unit, so resume() must be able to
  /// rebuild all they say. Taking notes makes the machine ask resume() what is owed now.
  std::vector<Note> notes;
  /// Sent to the command's sender after the unit is stored (at once if there is nothing to store).
  std::optional<Reply> reply;
  /// Keep the command as a waiter: D::answer_waiter() is asked again after each stored commit.
  bool wait = false;
  /// A call is owed but no permit was free: resume() is called again when one is granted.
  bool wants_permit = false;
  /// Stored data contradicts itself (e.g. a closed row without events): quarantine the entity.
  std::optional<std::string> quarantine;

  [[nodiscard]] bool stores_nothing() const noexcept {
    return events.empty() && rows.empty() && refunds.empty() && marks.empty() && caps.empty() &&
           limits.empty();
  }
};

/// Why a command is answered without having been decided, or without a known result.
enum class Turndown : std::uint8_t {
  busy,         ///< a bound was reached; this command recorded nothing: send the same again later
  uncertain,    ///< the store did not say whether it recorded it: ask again with the same ids
  quarantined,  ///< the entity is quarantined; an operator must act
  invalid,      ///< the unit was refused as malformed or too large; nothing was recorded
};

namespace detail {
template <class D>
struct NoteOf {
  using Type = NoNote;
};
template <class D>
requires requires {
  typename D::Note;
}
struct NoteOf<D> {
  using Type = typename D::Note;
};
}  // namespace detail

/// `D::Note` of a decider with a transient part, NoNote of any other.
template <class D>
using NoteOf = typename detail::NoteOf<D>::Type;

/// The type of all decisions of a decider.
template <class D>
using DecisionOf = Decision<typename D::Event, typename D::Reply, NoteOf<D>>;

/// Optional part of a decider: a named transient part of its state that notes change. take_note
/// cannot fail, since a note is made from the very state that takes it.
template <class D>
concept TakesNotes = requires(const D& d, typename D::State& state, const typename D::Note& note) {
  { d.take_note(state, note) } -> std::same_as<void>;
};

/// An entity type. All members are const and thread-safe; one object serves all entities.
template <class D>
concept Decider = requires(const D& d, typename D::State& state, const typename D::State& cstate,
                           const typename D::Event& event, const typename D::Command& command,
                           const ExternalAnswer& answer, const Context& context,
                           const PersistenceId& id, Turndown why) {
  requires std::copyable<typename D::Command>;
  requires std::copyable<typename D::Reply>;
  requires std::same_as<NoteOf<D>, NoNote> || TakesNotes<D>;
  /// State of an entity without history.
  { d.initial(id) } -> std::same_as<typename D::State>;
  /// Total: every (state, command) pair has a decision.
  { d.decide(cstate, command, context) } -> std::same_as<DecisionOf<D>>;
  /// Total: answers that match nothing decide nothing.
  { d.decide_answer(cstate, answer, context) } -> std::same_as<DecisionOf<D>>;
  /// Everything still owed, from state alone: after recovery, on a wake-up, on a granted permit,
  /// after notes. Called again after each decision it made was stored or released, until it decides
  /// nothing; one that releases effects without storing must note them, or it would repeat them.
  { d.resume(cstate, context) } -> std::same_as<DecisionOf<D>>;
  /// An event the state cannot take is impossible_transition and quarantines the entity.
  { d.evolve(state, event) } -> std::same_as<Result<Unit>>;
  /// The reply for a waiting command, once the state allows one.
  { d.answer_waiter(cstate, command) } -> std::same_as<std::optional<typename D::Reply>>;
  { d.turn_down(command, why) } -> std::same_as<typename D::Reply>;
};

/// Bytes of events. Encoding always writes the newest version; decoding refuses unknown names and
/// versions with unknown_manifest and never defaults a missing member.
template <class Event>
struct EventCodec {
  EncodedEvent (*encode)(const Event&) = nullptr;
  Result<Event> (*decode)(const EncodedEvent&) = nullptr;
};

}  // namespace onceward

// Hints: what somebody says about an object at the provider, and where hints go that concern no
// obligation of ours. A hint is never believed: it makes the object be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <onceward/core/commit_unit.hpp>
#include <onceward/core/decider.hpp>

namespace onceward::billing {

/// What kind of object at the provider a hint is about.
enum class HintedKind : std::uint8_t { payment_intent, charge, refund, dispute };
[[nodiscard]] std::string_view to_text(HintedKind kind) noexcept;
[[nodiscard]] Result<HintedKind> parse_hinted_kind(std::string_view text);

/// A webhook, or another hint, about an object of one obligation (the object's `onceward_*`
/// metadata names it, or its charge is the recorded one). Its mark is stored in the commit of what
/// it makes owed: the same mark again has no effect, and neither has a twin under another mark.
/// Answered with HintTaken once durable, NoSuchObligation if nothing of it is recorded (nothing was
/// stored, the mark included: the hint belongs into the inbox), Refused if it is malformed.
struct ProviderHint {
  ObligationKey key;
  Mark mark;         ///< scope e.g. "webhook", key = the event's id
  std::string type;  ///< the event's type, 1-64 visible characters, e.g. "charge.refunded"
  HintedKind kind = HintedKind::payment_intent;
  std::string object;  ///< id of the object that changed, 1-128 visible characters
  std::string intent;  ///< the intent it belongs to, also if it is that itself; empty: not said
  std::string charge;  ///< the charge it belongs to, also if it is that itself; empty: not said
};

/// A hint that concerns no obligation we know, for the entity `inbox/<object>`.
struct StoreHint {
  Mark mark;  ///< as in ProviderHint
  std::string type;
  HintedKind kind = HintedKind::payment_intent;
  std::string about;  ///< whom the object names (customer, period, purpose), for people; may be ""
};
/// An operator has dealt with it. A later hint about the object opens it again.
struct ResolveInbox {
  std::optional<Mark> mark;  ///< of the operator's request id
  std::string who;
  std::string why;  ///< required: journaled
};
using InboxCommand = std::variant<StoreHint, ResolveInbox>;

/// An object at the provider that hints told of and no obligation of ours accounts for.
struct InboxItem {
  std::string object;
  HintedKind kind = HintedKind::payment_intent;
  std::string type;      ///< of the newest hint
  std::string event_id;  ///< of the newest hint
  std::string about;
  std::uint64_t hints = 0;  ///< all that were stored, repeats of one event id not among them
  Timestamp first_at;
  Timestamp last_at;
  bool open = false;  ///< an operator must look
  std::string who;    ///< who resolved it last
  std::string why;

  friend bool operator==(const InboxItem&, const InboxItem&) = default;
};

struct InboxTold {
  InboxItem item;
  bool duplicate = false;  ///< the mark was there before: nothing was stored
};
/// ResolveInbox of an object that no hint was stored for.
struct NoSuchItem {};
/// Not decided, or not known whether it was recorded.
struct InboxTurnedDown {
  Turndown why = Turndown::busy;
};
/// ResolveInbox without who or why, or with a used mark of another content.
struct InboxRefused {
  std::string detail;
};
using InboxReply = std::variant<InboxTold, NoSuchItem, InboxTurnedDown, InboxRefused>;

}  // namespace onceward::billing

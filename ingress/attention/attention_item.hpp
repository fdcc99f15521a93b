// Attention: what a person has to look at, as one kind of value whatever it is: an obligation, a
// quarantined entity, an object at the provider that nobody knows, a refund. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <onceward/billing/hint_commands.hpp>
#include <onceward/core/obligation.hpp>
#include <onceward/core/refund.hpp>
#include <onceward/journal/journal.hpp>

namespace onceward::ingress {

/// From when on what waits for somebody else is a person's matter; counted from the initiation.
struct AttentionDeadlines {
  std::int64_t action_required_ms = 0;
  std::int64_t processing_ms = 0;
  /// Longer than the provider remembers a key: of `unknown`, and of requests that it never takes.
  std::int64_t unresolved_ms = 0;
};

/// Where an item comes from. `alarm`: a completed obligation that somebody should have seen (late
/// or double money, a dispute). `quarantine` names any entity, `inbox` an object at the provider.
enum class AttentionKind : std::uint8_t { obligation, alarm, refund, quarantine, inbox };
[[nodiscard]] std::string_view to_text(AttentionKind kind) noexcept;
[[nodiscard]] Result<AttentionKind> parse_attention_kind(std::string_view text);

/// Names one item: which obligation, refund, entity or object. Stable as long as the item exists.
struct AttentionId {
  AttentionKind kind = AttentionKind::obligation;
  ObligationKey key;         ///< of obligation, alarm and refund
  std::uint32_t number = 0;  ///< of the refund
  PersistenceId entity;      ///< of quarantine
  std::string object;        ///< of inbox

  friend bool operator==(const AttentionId&, const AttentionId&) = default;
};
/// `obligation:2026-08:subscription:cust_1`, `alarm:2026-08:subscription:cust_1`,
/// `refund:2026-08:subscription:1:cust_1`, `quarantine:customer:cust_1`, `inbox:pi_1`. Characters
/// that a URL path gives a meaning are written `=XX`, so the text can be put into a path as it is.
[[nodiscard]] std::string to_text(const AttentionId& id);
/// invalid_argument if it is not exactly what to_text gives.
[[nodiscard]] Result<AttentionId> parse_attention_id(std::string_view text);

struct AttentionItem {
  AttentionId id;
  std::string status;  ///< of the obligation or refund; `quarantined`, `inbox`
  std::string reason;  ///< why it is here, for people
  Timestamp since;
  std::optional<ObligationRow> obligation;
  std::optional<RefundRow> refund;
  std::optional<billing::InboxItem> inbox;

  /// What is at stake; absent for a quarantine and an object of the inbox.
  [[nodiscard]] std::optional<Money> amount() const;
};

/// An item if a person has to look at the row: operator-owned, uncollectible, completed with an
/// alarm, declined in a way that no other try mends (or with a code nobody knows), or open for
/// longer than the deadlines allow.
[[nodiscard]] std::optional<AttentionItem> attention_of(const ObligationRow& row,
                                                        const AttentionDeadlines& deadlines,
                                                        Timestamp now);
[[nodiscard]] AttentionItem attention_of(const journal::Quarantined& quarantined);
/// An item if it is open.
[[nodiscard]] std::optional<AttentionItem> attention_of(const billing::InboxItem& inbox);
/// An item if an operator owns the refund.
[[nodiscard]] std::optional<AttentionItem> attention_of(const RefundRow& refund);

/// What to do next, in one or two sentences that name the command line's verbs.
[[nodiscard]] std::string next_step(const AttentionItem& item);

/// Which items are wanted; absent members do not restrict.
struct AttentionFilter {
  std::optional<AttentionKind> kind;
  std::optional<std::string> status;
  std::optional<CustomerId> customer;
  std::optional<BillingPeriod> period;
  std::optional<Purpose> purpose;
  /// Part of the reason.
  std::optional<std::string> reason;
};
[[nodiscard]] bool matches(const AttentionFilter& filter, const AttentionItem& item);

/// Count and sum over items.
class AttentionTally {
 public:
  void add(const AttentionItem& item);
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// By currency; saturates at the largest integer.
  [[nodiscard]] const std::map<Currency, std::int64_t>& sums() const noexcept { return sums_; }

 private:
  std::uint64_t count_ = 0;
  std::map<Currency, std::int64_t> sums_;
};

}  // namespace onceward::ingress

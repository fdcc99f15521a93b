// Sizes, alphabets and contradictions inside one unit. Each refusal names the entity and the part.
#include "journal/unit_shape.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <onceward/journal/journal.hpp>

#include "journal/history.hpp"
#include "journal/json_text.hpp"

namespace onceward::journal {
namespace {

constexpr std::size_t customer_bytes_max = 128;
constexpr std::size_t purpose_bytes_max = 40;
constexpr std::uint64_t stored_integer_max = std::numeric_limits<std::int64_t>::max();

bool is_visible_ascii(std::string_view text, std::size_t bytes_max) noexcept {
  return !text.empty() && text.size() <= bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

bool is_short_text(std::string_view text) noexcept {
  return text.size() <= short_text_bytes_max && is_stored_text(text);
}

/// Absent = in order; else what is wrong, for people.
using Complaint = std::optional<std::string>;

Complaint event_complaint(const EncodedEvent& event) {
  if (!is_visible_ascii(event.manifest.name, manifest_name_bytes_max)) {
    return "the manifest's name is not 1 to 128 visible ASCII characters";
  }
  if (event.manifest.version == 0) return "the manifest's version is 0";
  if (event.payload.size() > event_payload_bytes_max) {
    return "the payload has " + std::to_string(event.payload.size()) + " bytes, at most " +
           std::to_string(event_payload_bytes_max) + " are stored";
  }
  if (!is_json(event.payload)) return "the payload is not JSON";
  return std::nullopt;
}

Complaint key_complaint(const ObligationKey& key) {
  if (!is_visible_ascii(key.customer.value(), customer_bytes_max)) {
    return "the customer is not 1 to 128 visible ASCII characters";
  }
  if (!is_visible_ascii(key.purpose.value(), purpose_bytes_max)) {
    return "the purpose is not 1 to 40 visible ASCII characters";
  }
  return std::nullopt;
}

Complaint row_complaint(const ObligationRow& row) {
  if (const Complaint complaint = key_complaint(row.key)) return complaint;
  if (row.amount.minor < 0 || row.amount.minor > amount_minor_max) {
    return "the amount is out of range";
  }
  for (const std::string_view text : {std::string_view(row.charge_id),
                                      {row.decline_code},
                                      {row.reason},
                                      {row.request_id.value()}}) {
    if (!is_short_text(text)) return "a text is not UTF-8 without NUL of at most 4096 bytes";
  }
  if (is_open(row.status) && !is_operator_owned(row.status) && !row.next_action_at) {
    return "it is open, no operator owns it, and it has no next_action_at: nobody would wake it";
  }
  return std::nullopt;
}

Complaint refund_complaint(const RefundRow& row) {
  if (const Complaint complaint = key_complaint(row.obligation)) return complaint;
  if (row.number == 0) return "the number is 0";
  if (row.amount.minor <= 0 || row.amount.minor > amount_minor_max) {
    return "the amount is out of range";
  }
  for (const std::string_view text : {std::string_view(row.refund_id),
                                      {row.reason},
                                      {row.request_id.value()},
                                      {row.who},
                                      {row.why}}) {
    if (!is_short_text(text)) return "a text is not UTF-8 without NUL of at most 4096 bytes";
  }
  if (is_open(row.status) && row.status != RefundStatus::parked && !row.next_action_at) {
    return "it is open, no operator owns it, and it has no next_action_at: nobody would wake it";
  }
  return std::nullopt;
}

Complaint mark_complaint(const Mark& mark) {
  if (mark.scope.empty() || mark.key.empty()) return "scope or key is empty";
  if (!is_short_text(mark.scope) || !is_short_text(mark.key) || !is_short_text(mark.fingerprint)) {
    return "a text is not UTF-8 without NUL of at most 4096 bytes";
  }
  return std::nullopt;
}

Complaint cap_complaint(const CapOp& op) {
  if (const Complaint complaint = key_complaint(op.obligation)) return complaint;
  if (op.amount.minor < 0 || op.amount.minor > amount_minor_max) {
    return "the amount is out of range";
  }
  return std::nullopt;
}

Complaint limit_complaint(const CapLimit& limit) {
  if (!limit.customer.value().empty() &&
      !is_visible_ascii(limit.customer.value(), customer_bytes_max)) {
    return "the customer is not empty and not 1 to 128 visible ASCII characters";
  }
  if (limit.limit.minor < 0) return "the limit is negative";
  return std::nullopt;
}

Complaint snapshot_complaint(const SnapshotRecord& snapshot) {
  if (snapshot.payload.size() > snapshot_bytes_max) {
    return "it has " + std::to_string(snapshot.payload.size()) + " bytes, at most " +
           std::to_string(snapshot_bytes_max) + " are stored";
  }
  if (!is_stored_text(snapshot.payload)) return "the payload is not UTF-8 without NUL";
  return std::nullopt;
}

Complaint header_complaint(const CommitUnit& unit, std::uint32_t shards) {
  if (!is_persistence_id(unit.persistence_id.value())) {
    return "the persistence id is not 1 to 255 visible ASCII characters";
  }
  // A unit under another shard would be fenced by the wrong epoch.
  if (unit.shard != shard_of(unit.persistence_id, shards)) {
    return "shard " + std::to_string(unit.shard.value) + " is not the shard of this persistence id";
  }
  if (!is_short_text(unit.writer.value())) {
    return "the writer id is not UTF-8 without NUL of at most 4096 bytes";
  }
  if (unit.epoch.value > stored_integer_max ||
      unit.expected.value > stored_integer_max - unit.events.size()) {
    return "epoch or sequence number is out of range";
  }
  return std::nullopt;
}

/// Index of an element that has the same key as an earlier one; few elements, so pairs are
/// compared.
template <class T, class IsSame>
std::optional<std::size_t> first_repeated(const std::vector<T>& items, IsSame is_same) {
  for (std::size_t later = 1; later < items.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (is_same(items[earlier], items[later])) return later;
    }
  }
  return std::nullopt;
}

template <class T>
Complaint first_complaint(const std::vector<T>& items, std::string_view kind,
                          Complaint (*complaint_of)(const T&)) {
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (const Complaint complaint = complaint_of(items[at])) {
      return std::string(kind) + " " + std::to_string(at + 1) + ": " + *complaint;
    }
  }
  return std::nullopt;
}

Complaint repetition_complaint(const CommitUnit& unit) {
  const auto row = first_repeated(
      unit.rows, [](const RowWrite& a, const RowWrite& b) { return a.row.key == b.row.key; });
  if (row) return "the row " + to_display(unit.rows[*row].row.key) + " is written twice";
  const auto refund = first_repeated(unit.refunds, [](const RefundRow& a, const RefundRow& b) {
    return a.obligation == b.obligation && a.number == b.number;
  });
  if (refund) {
    const RefundRow& twice = unit.refunds[*refund];
    return "refund " + std::to_string(twice.number) + " of " + to_display(twice.obligation) +
           " is written twice";
  }
  const auto mark = first_repeated(unit.marks, [](const Mark& a, const Mark& b) {
    return a.scope == b.scope && a.key == b.key;
  });
  if (mark)
    return "the mark " + unit.marks[*mark].scope + " " + unit.marks[*mark].key + " is set twice";
  return std::nullopt;
}

Complaint row_write_complaint(const RowWrite& write) {
  return row_complaint(write.row);
}

Complaint complaint_about(const CommitUnit& unit, std::uint32_t shards) {
  if (auto found = header_complaint(unit, shards)) return found;
  if (auto found = first_complaint(unit.events, "event", event_complaint)) return found;
  if (auto found = first_complaint(unit.rows, "row", row_write_complaint)) return found;
  if (auto found = first_complaint(unit.refunds, "refund", refund_complaint)) return found;
  if (auto found = first_complaint(unit.marks, "mark", mark_complaint)) return found;
  if (auto found = first_complaint(unit.caps, "cap operation", cap_complaint)) return found;
  if (auto found = first_complaint(unit.limits, "cap limit", limit_complaint)) return found;
  if (unit.snapshot) {
    if (unit.expected.value + unit.events.size() == 0) return "it is a snapshot of no event";
    if (auto found = snapshot_complaint(*unit.snapshot)) return "snapshot: " + *found;
  }
  return repetition_complaint(unit);
}

}  // namespace

std::optional<Error> shape_error(const CommitUnit& unit, std::uint32_t shards) {
  const Complaint complaint = complaint_about(unit, shards);
  if (!complaint) return std::nullopt;
  const bool is_printable = is_persistence_id(unit.persistence_id.value());
  return Error{ErrorCode::invalid_argument,
               "unit of " + (is_printable ? unit.persistence_id.value() : "(bad persistence id)") +
                   ": " + *complaint + "; nothing of it was stored"};
}

bool is_persistence_id(std::string_view text) noexcept {
  return is_visible_ascii(text, persistence_id_bytes_max);
}

}  // namespace onceward::journal

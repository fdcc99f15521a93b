// Names, reasons and next steps of what a person has to look at.
#include "ingress/attention/attention_item.hpp"

#include <charconv>
#include <limits>
#include <utility>

namespace onceward::ingress {

namespace {

constexpr std::string_view hex = "0123456789ABCDEF";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '=';
    out += hex[byte >> 4U];
    out += hex[byte & 15U];
  }
  return out;
}

/// Absent if it is not exactly what escaped() gives.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = hex.find(text[i + 1]);
    const auto low = hex.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return escaped(out) == text ? std::optional(out) : std::nullopt;
}

/// Takes the part before the next colon off the front of `text`.
std::string_view take_part(std::string_view& text) {
  const auto colon = text.find(':');
  const auto part = text.substr(0, colon);
  text = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  return part;
}

Unexpected unknown_id(std::string_view text) {
  const bool is_short = text.size() <= 300;
  return fail(ErrorCode::invalid_argument,
              std::string(is_short ? text : "this") +
                  " is no id of attention; take one from the list of GET /v1/attention");
}

Result<ObligationKey> parse_key(std::string_view period, std::string_view purpose,
                                std::string_view customer) {
  auto text = unescaped(customer);
  auto id = parse_customer_id(text.value_or(""));
  if (!id) return Unexpected{std::move(id).error()};
  auto parsed_period = BillingPeriod::parse(period);
  if (!parsed_period) return Unexpected{std::move(parsed_period).error()};
  auto parsed_purpose = parse_purpose(purpose);
  if (!parsed_purpose) return Unexpected{std::move(parsed_purpose).error()};
  return ObligationKey{std::move(*id), std::move(*parsed_period), std::move(*parsed_purpose)};
}

std::string key_text(const ObligationKey& key) {
  return key.period.text() + ":" + key.purpose.value() + ":";
}

/// Completed in a way that a person should see; a verdict of a person is none.
bool has_alarm(const ObligationRow& row) {
  return !row.reason.empty() && !row.reason.starts_with("paid_outside");
}

bool names_obligation(AttentionKind kind) {
  return kind == AttentionKind::obligation || kind == AttentionKind::alarm ||
         kind == AttentionKind::refund;
}

std::optional<std::string> overdue(const ObligationRow& row, const AttentionDeadlines& deadlines,
                                   Timestamp now) {
  const std::int64_t age_ms = now.ms - row.initiated_at.ms;
  if (row.status == ObligationStatus::action_required) {
    if (age_ms < deadlines.action_required_ms) return std::nullopt;
    return "the payer has not acted yet; billing began at " + to_iso(row.initiated_at);
  }
  if (row.status == ObligationStatus::processing) {
    if (age_ms < deadlines.processing_ms) return std::nullopt;
    return "the provider is still working on it; billing began at " + to_iso(row.initiated_at);
  }
  // A request under way has no reason; one that is put off again and again has.
  const bool is_stuck = row.status == ObligationStatus::unknown || !row.reason.empty();
  if (age_ms < deadlines.unresolved_ms || !is_stuck) return std::nullopt;
  return (row.reason.empty() ? "not known" : row.reason) + "; still unresolved, billing began at " +
         to_iso(row.initiated_at);
}

/// Nothing but another card helps, or nobody knows what the code forbids.
bool is_declined_for_a_person(const ObligationRow& row) {
  return row.reason.starts_with("payment_method_needed") ||
         row.reason.starts_with("unlisted_decline_code");
}

}  // namespace

std::string_view to_text(AttentionKind kind) noexcept {
  switch (kind) {
    case AttentionKind::obligation:
      return "obligation";
    case AttentionKind::alarm:
      return "alarm";
    case AttentionKind::refund:
      return "refund";
    case AttentionKind::quarantine:
      return "quarantine";
    case AttentionKind::inbox:
      return "inbox";
  }
  return "";
}

Result<AttentionKind> parse_attention_kind(std::string_view text) {
  for (const auto kind : {AttentionKind::obligation, AttentionKind::alarm, AttentionKind::refund,
                          AttentionKind::quarantine, AttentionKind::inbox}) {
    if (to_text(kind) == text) return kind;
  }
  return fail(ErrorCode::invalid_argument,
              "kind must be obligation, alarm, refund, quarantine or inbox");
}

std::string to_text(const AttentionId& id) {
  std::string text = std::string(to_text(id.kind)) + ":";
  switch (id.kind) {
    case AttentionKind::obligation:
    case AttentionKind::alarm:
      return text + key_text(id.key) + escaped(id.key.customer.value());
    case AttentionKind::refund:
      return text + key_text(id.key) + std::to_string(id.number) + ":" +
             escaped(id.key.customer.value());
    case AttentionKind::quarantine: {
      // An entity is named <kind>/<rest>.
      const std::string& entity = id.entity.value();
      const auto slash = entity.find('/');
      if (slash == std::string::npos) return text + escaped(entity);
      return text + escaped(entity.substr(0, slash)) + ":" + escaped(entity.substr(slash + 1));
    }
    case AttentionKind::inbox:
      return text + escaped(id.object);
  }
  return text;
}

Result<AttentionId> parse_attention_id(std::string_view text) {
  std::string_view rest = text;
  const auto kind = parse_attention_kind(take_part(rest));
  if (!kind) return unknown_id(text);
  AttentionId id;
  id.kind = *kind;
  if (names_obligation(id.kind)) {
    const auto period = take_part(rest);
    const auto purpose = take_part(rest);
    if (id.kind == AttentionKind::refund) {
      const auto number = take_part(rest);
      (void)std::from_chars(number.data(), number.data() + number.size(), id.number);  // see below
    }
    auto key = parse_key(period, purpose, rest);
    if (!key) return unknown_id(text);
    id.key = std::move(*key);
  } else if (id.kind == AttentionKind::quarantine) {
    const auto kind_part = unescaped(take_part(rest));
    const auto name = unescaped(rest);
    if (!kind_part || kind_part->empty() || !name) return unknown_id(text);
    id.entity = PersistenceId(name->empty() ? *kind_part : *kind_part + "/" + *name);
  } else {
    id.object = unescaped(rest).value_or("");
    if (id.object.empty()) return unknown_id(text);
  }
  // One spelling each: whatever was accepted above and is written otherwise is none of ours.
  if (to_text(id) != text) return unknown_id(text);
  return id;
}

std::optional<Money> AttentionItem::amount() const {
  if (obligation) return obligation->amount;
  if (refund) return refund->amount;
  return std::nullopt;
}

std::optional<AttentionItem> attention_of(const ObligationRow& row,
                                          const AttentionDeadlines& deadlines, Timestamp now) {
  AttentionItem item;
  item.reason = row.reason;
  item.id.kind = AttentionKind::obligation;
  item.id.key = row.key;
  switch (row.status) {
    case ObligationStatus::parked:
    case ObligationStatus::rejected:
    case ObligationStatus::capped:
    case ObligationStatus::uncollectible:
      break;
    case ObligationStatus::action_required:
    case ObligationStatus::processing:
    case ObligationStatus::in_progress:
    case ObligationStatus::unknown: {
      auto why = overdue(row, deadlines, now);
      if (!why) return std::nullopt;
      item.reason = std::move(*why);
      break;
    }
    case ObligationStatus::completed:
      if (!has_alarm(row)) return std::nullopt;
      item.id.kind = AttentionKind::alarm;
      break;
    case ObligationStatus::declined:
      if (!is_declined_for_a_person(row)) return std::nullopt;
      item.reason += row.decline_code.empty() ? "" : " (" + row.decline_code + ")";
      break;
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
      return std::nullopt;
  }
  item.status = to_text(row.status);
  item.since = row.updated_at;
  item.obligation = row;
  return item;
}

AttentionItem attention_of(const journal::Quarantined& quarantined) {
  AttentionItem item;
  item.id.kind = AttentionKind::quarantine;
  item.id.entity = quarantined.persistence_id;
  item.status = "quarantined";
  item.reason = quarantined.reason;
  item.since = quarantined.since;
  return item;
}

std::optional<AttentionItem> attention_of(const billing::InboxItem& inbox) {
  if (!inbox.open) return std::nullopt;
  AttentionItem item;
  item.id.kind = AttentionKind::inbox;
  item.id.object = inbox.object;
  item.status = "inbox";
  item.reason = inbox.type + " about " + inbox.object + ", which no obligation here accounts for";
  if (!inbox.about.empty()) item.reason += " (" + inbox.about + ")";
  item.since = inbox.first_at;
  item.inbox = inbox;
  return item;
}

std::optional<AttentionItem> attention_of(const RefundRow& refund) {
  if (refund.status != RefundStatus::parked) return std::nullopt;
  AttentionItem item;
  item.id.kind = AttentionKind::refund;
  item.id.key = refund.obligation;
  item.id.number = refund.number;
  item.status = to_text(refund.status);
  item.reason = refund.reason;
  item.since = refund.updated_at;
  item.refund = refund;
  return item;
}

bool matches(const AttentionFilter& filter, const AttentionItem& item) {
  if (filter.kind && *filter.kind != item.id.kind) return false;
  if (filter.status && *filter.status != item.status) return false;
  if (filter.reason && item.reason.find(*filter.reason) == std::string::npos) return false;
  if (!filter.customer && !filter.period && !filter.purpose) return true;
  if (item.id.kind == AttentionKind::quarantine) {
    const bool is_customer =
        filter.customer && item.id.entity == customer_persistence_id(*filter.customer);
    return is_customer && !filter.period && !filter.purpose;
  }
  if (item.id.kind == AttentionKind::inbox) return false;
  const ObligationKey& key = item.id.key;
  return (!filter.customer || *filter.customer == key.customer) &&
         (!filter.period || *filter.period == key.period) &&
         (!filter.purpose || *filter.purpose == key.purpose);
}

void AttentionTally::add(const AttentionItem& item) {
  ++count_;
  const auto amount = item.amount();
  if (!amount) return;
  auto& sum = sums_[amount->currency];
  const std::int64_t room = std::numeric_limits<std::int64_t>::max() - sum;
  sum += amount->minor < room ? amount->minor : room;
}

}  // namespace onceward::ingress

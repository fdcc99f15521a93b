// Members of an item, whatever its kind.
#include "ingress/attention/attention_json.hpp"

#include <utility>

#include "ingress/http/answers.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object inbox_json(const billing::InboxItem& inbox) {
  return {{"object", inbox.object},
          {"object_kind", std::string(to_text(inbox.kind))},
          {"type", inbox.type},
          {"event_id", inbox.event_id},
          {"about", text_or_null(inbox.about)},
          {"events", inbox.hints},
          {"first_at", to_iso(inbox.first_at)},
          {"last_at", to_iso(inbox.last_at)}};
}

bool is_status(std::string_view text) {
  return text == "quarantined" || text == "inbox" || parse_obligation_status(text).has_value() ||
         parse_refund_status(text).has_value();
}

}  // namespace

json::object attention_json(const AttentionItem& item) {
  const bool has_key = item.obligation || item.refund;
  const auto amount = item.amount();
  json::object body;
  body["id"] = to_text(item.id);
  body["kind"] = std::string(to_text(item.id.kind));
  body["status"] = item.status;
  body["reason"] = text_or_null(item.reason);
  body["since"] = to_iso(item.since);
  body["customer"] = text_or_null(has_key ? item.id.key.customer.value() : "");
  body["period"] = text_or_null(has_key ? item.id.key.period.text() : "");
  body["purpose"] = text_or_null(has_key ? item.id.key.purpose.value() : "");
  body["amount_minor"] = amount ? json::value(amount->minor) : json::value(nullptr);
  body["currency"] =
      amount ? json::value(std::string(amount->currency.text())) : json::value(nullptr);
  body["next_step"] = next_step(item);
  if (item.obligation) body["obligation"] = obligation_json({.row = *item.obligation});
  if (item.refund) body["refund"] = refund_json(*item.refund);
  if (item.inbox) body["inbox"] = inbox_json(*item.inbox);
  if (item.id.kind == AttentionKind::quarantine) body["entity"] = item.id.entity.value();
  return body;
}

json::array totals_json(const AttentionTally& tally) {
  json::array totals;
  for (const auto& [currency, sum] : tally.sums()) {
    totals.push_back(
        json::object{{"currency", std::string(currency.text())}, {"amount_minor", sum}});
  }
  return totals;
}

Result<AttentionFilter> parse_attention_filter(const Query& query) {
  AttentionFilter filter;
  if (const auto text = query.find("kind")) {
    auto kind = parse_attention_kind(*text);
    if (!kind) return Unexpected{std::move(kind).error()};
    filter.kind = *kind;
  }
  if (const auto text = query.find("status")) {
    // A misspelled one must not silently match nothing.
    if (!is_status(*text)) {
      return fail(ErrorCode::invalid_argument,
                  "status must be one of obligations or refunds, quarantined or inbox");
    }
    filter.status = std::string(*text);
  }
  if (const auto text = query.find("customer")) {
    auto customer = parse_customer_id(*text);
    if (!customer) return Unexpected{std::move(customer).error()};
    filter.customer = std::move(*customer);
  }
  if (const auto text = query.find("period")) {
    auto period = BillingPeriod::parse(*text);
    if (!period) return Unexpected{std::move(period).error()};
    filter.period = std::move(*period);
  }
  if (const auto text = query.find("purpose")) {
    auto purpose = parse_purpose(*text);
    if (!purpose) return Unexpected{std::move(purpose).error()};
    filter.purpose = std::move(*purpose);
  }
  if (const auto text = query.find("reason")) filter.reason = std::string(*text);
  return filter;
}

}  // namespace onceward::ingress

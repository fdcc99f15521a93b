// Attention as JSON, and its filters from query members. Pure.
#pragma once

#include <boost/json.hpp>

#include "ingress/attention/attention_item.hpp"
#include "ingress/http/url.hpp"

namespace onceward::ingress {

/// `{"id","kind","status","reason","since","customer","period","purpose","amount_minor","currency",
/// "next_step"}` and, by kind, "obligation", "refund", "inbox" or "entity". What an item does not
/// have is null.
[[nodiscard]] boost::json::object attention_json(const AttentionItem& item);

/// `[{"currency","amount_minor"}]`, ordered by currency.
[[nodiscard]] boost::json::array totals_json(const AttentionTally& tally);

/// Members kind, status, customer, period, purpose, reason; invalid_argument naming a wrong one.
[[nodiscard]] Result<AttentionFilter> parse_attention_filter(const Query& query);

}  // namespace onceward::ingress

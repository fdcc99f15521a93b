// The obligation that a path names: /v1/billing/{customer}/{period}..., with ?purpose=. Pure.
#pragma once

#include <onceward/core/obligation.hpp>

#include "ingress/http/services.hpp"
#include "ingress/http/url.hpp"

namespace onceward::ingress {

/// invalid_argument naming what is wrong.
[[nodiscard]] inline Result<ObligationKey> parse_obligation_key(const Call& call,
                                                                const Query& query) {
  auto customer = parse_customer_id(call.segments[2]);
  if (!customer) return Unexpected{std::move(customer).error()};
  auto period = BillingPeriod::parse(call.segments[3]);
  if (!period) return Unexpected{std::move(period).error()};
  auto purpose = parse_purpose(query.find("purpose").value_or(""));
  if (!purpose) return Unexpected{std::move(purpose).error()};
  return ObligationKey{std::move(*customer), std::move(*period), std::move(*purpose)};
}

}  // namespace onceward::ingress

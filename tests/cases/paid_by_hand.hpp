// Money taken by somebody else for an obligation of ours: an intent made and confirmed by hand,
// with our metadata.
#pragma once

#include <string>

#include "tests/cases/case_run.hpp"

namespace onceward::cases {

inline void pay_by_hand(CaseWorld& world, const std::string& customer, const std::string& period,
                        std::int64_t minor = 9'900) {
  world.made_by_others.insert(to_display(CaseWorld::key_of(customer, period)));
  const auto answer = world.port().ask(
      "POST", "/v1/payment_intents",
      "amount=" + std::to_string(minor) + "&currency=usd&customer=" + customer +
          "&payment_method=pm_card_visa&payment_method_types[0]=card&confirm=true"
          "&metadata[onceward_namespace]=acme-billing&metadata[onceward_customer]=" +
          customer + "&metadata[onceward_period]=" + period +
          "&metadata[onceward_purpose]=subscription",
      world.now());
  EXPECT_EQ(answer.status, 200) << answer.body;
}

}  // namespace onceward::cases

// The billing entity with one guard taken out. Guards of the journal are taken out by the world.
#pragma once

#include <string_view>

#include <onceward/billing/billing_entity.hpp>

namespace onceward::harness {

/// `guard`: a name of guard_names; empty: the entity as it is.
[[nodiscard]] EntityType entity_without(const billing::BillingPolicy& policy,
                                        std::string_view guard);

}  // namespace onceward::harness

// The scenarios of the billing entity, by name: what `onceward harness run` runs, and what proves
// that each guard is needed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <onceward/billing/billing_policy.hpp>
#include <onceward/harness/scenario.hpp>

namespace onceward::harness {

/// Guards that can be taken out, by the names of the command line.
inline constexpr std::string_view guard_names[] = {
    "in_progress", "issued_periods", "claim", "stable_key", "epoch", "cap", "unknown_lookup"};

struct BillingScenarioOptions {
  billing::Flow flow = billing::Flow::payment_intents;
  FaultBounds faults;
  std::vector<std::string> customers = {"cust_1"};
  std::int64_t amount_minor = 4990;
  std::int64_t cap_minor = 0;  ///< of the period; 0: none
  std::string without;         ///< a guard to take out; empty: none
};
/// Bills every customer once for 2026-08.
[[nodiscard]] Scenario billing_scenario(std::string name, std::string says,
                                        const BillingScenarioOptions& options);

/// All built-in scenarios; `deep` raises the bounds (the `--long` run). An unknown guard is
/// invalid_argument and names those that exist.
[[nodiscard]] Result<std::vector<Scenario>> billing_scenarios(bool deep,
                                                              std::string_view without = {});
/// Random worlds: many customers, every fault.
[[nodiscard]] Scenario random_billing_scenario(billing::Flow flow, std::string_view without = {});

}  // namespace onceward::harness

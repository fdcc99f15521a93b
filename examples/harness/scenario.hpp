// What the harness tries with the meter: three readings, two crashes and a supplier that fails.
// About thirty lines are all that an entity needs.
#pragma once

#include <onceward/harness/entity_under_test.hpp>
#include <onceward/harness/oracles.hpp>
#include <onceward/harness/payment_provider.hpp>
#include <onceward/harness/scenario.hpp>

#include "meter.hpp"

namespace meter {

namespace harness = onceward::harness;

/// Everything that was used is bought in the end: 60 + 60 + 90 units are three blocks.
class BoughtWhatWasUsed final : public harness::CopyableOracle<BoughtWhatWasUsed> {
 public:
  [[nodiscard]] std::string_view name() const override { return "bought"; }
  [[nodiscard]] std::string_view says() const override {
    return "At rest exactly as many blocks are bought as the readings need.";
  }
  void at_rest(const harness::Truth& truth) override {
    const auto blocks = truth.provider.ledger().size();
    if (blocks != 3) broke(std::to_string(blocks) + " blocks were bought, 3 are needed");
  }
};

inline harness::ReplyFacts read_reply(const std::any& reply) {
  harness::ReplyFacts facts;
  const auto* counted = std::get_if<Counted>(std::any_cast<Reply>(&reply));
  facts.claim =
      counted == nullptr ? harness::ReplyFacts::Claim::ask_again : harness::ReplyFacts::Claim::open;
  facts.text = counted == nullptr ? "try again" : "counted " + std::to_string(counted->total);
  return facts;
}

inline harness::Scenario scenario(bool has_bug) {
  harness::Scenario s;
  s.name = has_bug ? "meter-with-a-bug" : "meter";
  s.says = "A usage meter that buys blocks from a supplier.";
  s.type =
      harness::entity_under_test<Meter>("meter", std::make_shared<const Meter>(has_bug), codec());
  s.entities = {PersistenceId{"meter/m1"}};
  s.asks = {{0, Read{"r1", 60}, "60 units"}, {0, Read{"r2", 60}, "60"}, {0, Read{"r3", 90}, "90"}};
  s.faults.crashes = 2;
  s.faults.provider_faults = 1;
  s.faults.fates = {harness::Fate::lost_before, harness::Fate::lost_after};
  s.provider = [] {
    harness::PaymentProviderOptions options;
    options.subject_of = [](const onceward::Params& metadata) {
      return harness::value_of(metadata, "block");
    };
    return std::make_unique<harness::PaymentProvider>(options);
  };
  s.oracles = [] {
    harness::Oracles all = harness::standard_oracles();
    all.with<BoughtWhatWasUsed>();
    return all;
  };
  s.read_reply = read_reply;
  return s;
}

}  // namespace meter

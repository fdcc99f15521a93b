// Bounds small enough to be exhausted on every test run, chosen so that each kind of fault meets
// each place.
#include <onceward/harness/billing_scenarios.hpp>

#include <algorithm>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/harness/billing_oracles.hpp>
#include <onceward/harness/payment_provider.hpp>

#include "recovery/harness/entity_without.hpp"

namespace onceward::harness {

using billing::Flow;
using std::chrono::hours;
using std::chrono::milliseconds;

namespace {

constexpr std::string_view period_text = "2026-08";

Ask bill(std::size_t entity, const std::string& customer, std::int64_t amount_minor) {
  billing::BillCustomer bill;
  bill.key = {CustomerId{customer}, *BillingPeriod::parse(period_text), Purpose{"subscription"}};
  bill.amount = Money{amount_minor, *Currency::parse("usd")};
  bill.payment_method = PaymentMethod{"pm_1"};
  bill.provider_customer = ProviderCustomer{"cus_" + customer};
  bill.request_id = RequestId{"req-" + customer};
  return {entity, billing::BillingCommand{bill}, "bill " + to_display(bill.key)};
}

CommitUnit cap_limit(std::int64_t minor) {
  CommitUnit unit;
  unit.persistence_id = PersistenceId{"cap/2026-08"};
  unit.limits.push_back(
      {*BillingPeriod::parse(period_text), CustomerId{}, Money{minor, *Currency::parse("usd")}});
  return unit;
}

bool is_completed_after_crash(const Truth& truth, const Counts& counts) {
  return counts.crashes > 0 && !truth.provider.ledger().empty();
}

std::string flow_name(Flow flow) {
  switch (flow) {
    case Flow::payment_intents:
      return "intents";
    case Flow::payment_intents_one_step:
      return "one-step";
    case Flow::charges:
      return "charges";
  }
  check_failed("flow", __FILE__, __LINE__, "a Flow outside its enumerators");
}

const std::vector<Fate> all_fates = {
    Fate::lost_before, Fate::lost_after, Fate::saved_500, Fate::failed_500,     Fate::declined,
    Fate::limited,     Fate::not_sent,   Fate::late,      Fate::gateway_before, Fate::gateway_after,
    Fate::in_use,      Fate::resent,     Fate::bad_body,  Fate::processing};

}  // namespace

Scenario billing_scenario(std::string name, std::string says,
                          const BillingScenarioOptions& options) {
  Scenario s;
  s.name = std::move(name);
  s.says = std::move(says);
  billing::BillingPolicy policy;
  policy.ns = Namespace{"acme-billing"};
  policy.account = AccountLabel{"default"};
  policy.flow = options.flow;
  s.type = entity_without(policy, options.without);
  s.without.claim = options.without == "claim";
  s.without.epoch = options.without == "epoch";
  for (const auto& customer : options.customers) {
    s.asks.push_back(bill(s.entities.size(), customer, options.amount_minor));
    s.entities.push_back(customer_persistence_id(CustomerId{customer}));
  }
  if (options.cap_minor > 0) s.stored_before.push_back(cap_limit(options.cap_minor));
  s.faults = options.faults;
  s.provider = [] { return std::make_unique<PaymentProvider>(); };
  const bool one_writer = options.faults.takeovers == 0;
  s.oracles = [flow = options.flow, one_writer] { return billing_oracles(flow, one_writer); };
  s.read_reply = read_billing_reply;
  if (options.faults.crashes > 0 && options.without.empty()) {
    s.sometimes.push_back({"charged although the process died", is_completed_after_crash});
  }
  return s;
}

Result<std::vector<Scenario>> billing_scenarios(bool deep, std::string_view without) {
  if (!without.empty() &&
      std::find(std::begin(guard_names), std::end(guard_names), without) == std::end(guard_names)) {
    std::string known;
    for (const auto guard : guard_names) known += (known.empty() ? "" : ", ") + std::string(guard);
    return fail(ErrorCode::invalid_argument,
                "no guard `" + std::string(without) + "`; there are " + known);
  }
  const int more = deep ? 1 : 0;
  const std::vector<milliseconds> downtimes = {milliseconds{0}, hours{25}};
  std::vector<Scenario> all;
  for (const Flow flow : {Flow::payment_intents, Flow::charges}) {
    const std::string tail = "-" + flow_name(flow);
    BillingScenarioOptions options;
    options.flow = flow;
    options.without = std::string(without);

    options.faults = {};
    options.faults.crashes = 3 + more;
    options.faults.downtimes = downtimes;
    all.push_back(billing_scenario(
        "crashes" + tail,
        "One customer, one period: the process dies anywhere, again during recovery, and the "
        "provider's memory of keys may end meanwhile.",
        options));

    options.faults = {};
    options.faults.crashes = 2 + more;
    options.faults.ambiguities = 1;
    options.faults.duplicates = 1;
    options.faults.downtimes = downtimes;
    all.push_back(billing_scenario(
        "ambiguity" + tail,
        "Crashes with a commit that is not answered and a command that arrives again.", options));

    options.faults = {};
    options.faults.crashes = 1;
    options.faults.takeovers = 1 + more;
    all.push_back(billing_scenario(
        "takeover" + tail,
        "The owner freezes at any point and wakes at any point, while another node bills.",
        options));

    options.faults = {};
    options.faults.crashes = 1 + more;
    options.faults.switches = 2;
    options.customers = {"cust_1", "cust_2"};
    options.cap_minor = options.amount_minor;
    Scenario two = billing_scenario(
        "cap" + tail, "Two customers, a spend cap that lets one of them through.", options);
    all.push_back(std::move(two));
    options.customers = {"cust_1"};
    options.cap_minor = 0;

    options.faults = {};
    options.faults.crashes = 1;
    options.faults.provider_faults = 2 + more;
    options.faults.fates = all_fates;
    all.push_back(billing_scenario("provider" + tail,
                                   "The provider fails in every way that it can, and the process "
                                   "dies meanwhile.",
                                   options));
  }
  return all;
}

Scenario random_billing_scenario(Flow flow, std::string_view without) {
  BillingScenarioOptions options;
  options.flow = flow;
  options.without = std::string(without);
  options.customers = {"cust_1", "cust_2", "cust_3"};
  options.cap_minor = 2 * options.amount_minor;
  options.faults.crashes = 6;
  options.faults.ambiguities = 4;
  options.faults.duplicates = 6;
  options.faults.lost_replies = 4;
  options.faults.provider_faults = 8;
  options.faults.takeovers = 3;
  options.faults.switches = 1'000;
  options.faults.permit_waits = 6;
  options.faults.fates = all_fates;
  options.faults.downtimes = {milliseconds{0}, hours{1}, hours{25}};
  Scenario s =
      billing_scenario("random-" + flow_name(flow),
                       "Three customers, a cap, everything at once, drawn from a seed.", options);
  s.rest_within = hours{24 * 40};
  return s;
}

}  // namespace onceward::harness

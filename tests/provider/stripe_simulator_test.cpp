// The Stripe client against the simulated provider over a real socket: both flows, the faults that
// a billing node must survive, and the provider's clock. What money did is read from the ledger.
#include <onceward/provider/classification.hpp>
#include <onceward/provider/simulator/simulator.hpp>

#include "tests/provider/stripe_provider_fixture.hpp"

namespace onceward::provider::test {
namespace {

using simulator::Simulator;

const Params charge_params = {{"amount", "4990"},
                              {"currency", "usd"},
                              {"customer", "cus_9"},
                              {"source", "tok_visa"},
                              {"metadata[onceward_namespace]", "acme"},
                              {"metadata[onceward_customer]", "cust_123"},
                              {"metadata[onceward_period]", "2026-08"},
                              {"metadata[onceward_purpose]", "subscription"}};

Params intent_params() {
  Params params = charge_params;
  params[3] = {"payment_method", "pm_card_visa"};
  return params;
}

ExternalRequest keyed(Operation operation, const std::string& key, Params params,
                      std::string target = {}) {
  auto request = request_of(operation, std::move(target));
  request.key = IdempotencyKey(key);
  request.params = std::move(params);
  return request;
}

class StripeWithSimulator : public testing::Test {
 protected:
  explicit StripeWithSimulator(std::chrono::milliseconds timeout = 20s)
      : simulator_(open_simulator()) {
    auto options = options_for(simulator_->url());
    options.timeout = timeout;
    provider_ = open_provider(std::move(options));
  }

  static std::unique_ptr<Simulator> open_simulator() {
    auto simulator = Simulator::start({});
    if (!simulator) std::abort();
    return std::move(simulator).value();
  }

  void set_fault(const std::string& rule) {
    const auto set = simulator_->set_faults(R"({"rules":[)" + rule + "]}");
    ASSERT_TRUE(set.has_value()) << set.error().context;
  }
  ExternalAnswer charge(const std::string& key) {
    return perform(*provider_, keyed(Operation::create_charge, key, charge_params));
  }
  std::string create_intent() {
    const auto answer =
        perform(*provider_, keyed(Operation::create_intent, "create", intent_params()));
    EXPECT_EQ(answer.observation, Observation::object) << answer.code << " " << answer.message;
    return answer.objects.empty() ? std::string() : answer.objects[0].id;
  }
  ExternalAnswer confirm(const std::string& intent, const std::string& key) {
    return perform(*provider_,
                   keyed(Operation::confirm_intent, key, {{"off_session", "true"}}, intent));
  }
  ExternalAnswer intent(const std::string& id) {
    return perform(*provider_, keyed(Operation::get_intent, "look", {}, id));
  }
  /// Charges that took money.
  [[nodiscard]] std::size_t succeeded() const {
    const auto rows = simulator_->ledger();
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [](const auto& row) { return row.status == "succeeded"; }));
  }

  std::unique_ptr<Simulator> simulator_;
  std::unique_ptr<StripeProvider> provider_;
};

TEST_F(StripeWithSimulator, ChargesOnceHoweverOftenTheKeyIsSent) {
  const auto first = charge("k1");
  ASSERT_EQ(first.observation, Observation::object) << first.message;
  EXPECT_TRUE(first.single_wire_send);
  EXPECT_EQ(first.objects.at(0).status, "succeeded");
  EXPECT_EQ(first.objects.at(0).amount_minor, 4'990);
  EXPECT_EQ(first.objects.at(0).currency, "usd");
  EXPECT_EQ(first.objects.at(0).customer, "cus_9");
  const auto again = charge("k1");
  EXPECT_EQ(again.objects.at(0), first.objects.at(0));
  EXPECT_FALSE(again.single_wire_send) << "a replay proves an earlier send";
  EXPECT_EQ(succeeded(), 1U);
}

TEST_F(StripeWithSimulator, TwoStepsTakeMoneyInTheSecond) {
  const std::string id = create_intent();
  EXPECT_EQ(intent(id).objects.at(0).status, "requires_confirmation");
  EXPECT_EQ(succeeded(), 0U);
  const auto confirmed = confirm(id, "confirm-1");
  ASSERT_EQ(confirmed.observation, Observation::object) << confirmed.message;
  const ProviderObject& paid = confirmed.objects.at(0);
  EXPECT_EQ(paid.status, "succeeded");
  EXPECT_EQ(paid.amount_minor, 4'990);
  EXPECT_NE(paid.charge, "");
  EXPECT_EQ(paid.metadata.size(), 4U);
  EXPECT_EQ(succeeded(), 1U);
  const auto one_charge = perform(*provider_, keyed(Operation::get_charge, "c", {}, paid.charge));
  EXPECT_EQ(one_charge.objects.at(0).payment_intent, id);
  // A paid intent takes no second confirm, whatever the key.
  EXPECT_EQ(confirm(id, "confirm-2").observation, Observation::unexpected_state);
  EXPECT_EQ(succeeded(), 1U);
}

TEST_F(StripeWithSimulator, RefundsOncePerKeyAndListsThemByCharge) {
  const auto paid = charge("k1").objects.at(0);
  const Params params{{"charge", paid.id}, {"amount", "990"}, {"metadata[onceward_refund]", "1"}};
  const auto first = perform(*provider_, keyed(Operation::create_refund, "r1", params));
  ASSERT_EQ(first.observation, Observation::object) << first.message;
  const ProviderObject& refund = first.objects.at(0);
  EXPECT_EQ(refund.object, "refund");
  EXPECT_EQ(refund.status, "succeeded");
  EXPECT_EQ(refund.amount_minor, 990);
  EXPECT_EQ(refund.currency, "usd");
  EXPECT_EQ(refund.charge, paid.id);
  EXPECT_EQ(refund.metadata, (Params{{"onceward_refund", "1"}}));
  const auto again = perform(*provider_, keyed(Operation::create_refund, "r1", params));
  EXPECT_EQ(again.objects.at(0), refund);
  const auto read = perform(*provider_, keyed(Operation::get_refund, "look", {}, refund.id));
  ASSERT_EQ(read.objects.size(), 1U) << read.message;
  EXPECT_EQ(read.objects.at(0), refund);
  const auto list =
      perform(*provider_, keyed(Operation::list_refunds, "look", {{"charge", paid.id}}));
  ASSERT_EQ(list.objects.size(), 1U) << list.message;
  EXPECT_EQ(list.objects.at(0), refund);
  // Nothing is left after the rest was given back.
  (void)perform(*provider_, keyed(Operation::create_refund, "r2", {{"charge", paid.id}}));
  const auto beyond =
      perform(*provider_, keyed(Operation::create_refund, "r3", {{"charge", paid.id}}));
  EXPECT_EQ(beyond.observation, Observation::invalid_request);
  EXPECT_EQ(beyond.code, "charge_already_refunded");
}

TEST_F(StripeWithSimulator, ADeclineBringsTheIntentAndTheNextTryMayPay) {
  const std::string id = create_intent();
  set_fault(R"({"kind":"decline","code":"insufficient_funds","count":1})");
  const auto declined = confirm(id, "confirm-1");
  ASSERT_EQ(declined.observation, Observation::declined) << declined.message;
  EXPECT_EQ(declined.decline_code, "insufficient_funds");
  EXPECT_EQ(declined.objects.at(0).id, id);
  EXPECT_EQ(declined.objects.at(0).status, "requires_payment_method");
  EXPECT_NE(declined.objects.at(0).failure_charge, "");
  const auto seen = intent(id).objects.at(0);
  EXPECT_EQ(seen.decline_code, "insufficient_funds");
  EXPECT_EQ(seen.failure_charge, declined.objects.at(0).failure_charge);
  const auto paid = perform(*provider_, keyed(Operation::confirm_intent, "confirm-2",
                                              {{"payment_method", "pm_card_visa"}}, id));
  EXPECT_EQ(paid.observation, Observation::object) << paid.message;
  EXPECT_EQ(succeeded(), 1U);
}

TEST_F(StripeWithSimulator, CancelsAndUpdatesAnIntent) {
  const std::string id = create_intent();
  const auto updated =
      perform(*provider_, keyed(Operation::update_intent, "u", {{"amount", "5000"}}, id));
  EXPECT_EQ(updated.objects.at(0).amount_minor, 5'000);
  const auto cancelled = perform(*provider_, keyed(Operation::cancel_intent, "c", {}, id));
  EXPECT_EQ(cancelled.objects.at(0).status, "canceled");
  EXPECT_EQ(confirm(id, "confirm-1").observation, Observation::unexpected_state);
  EXPECT_EQ(succeeded(), 0U);
}

TEST_F(StripeWithSimulator, ListsAllPagesOfACustomer) {
  constexpr int count = 7;
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(charge("k" + std::to_string(i)).observation, Observation::object);
  }
  const auto listed = perform(
      *provider_, keyed(Operation::list_charges, "l", {{"customer", "cus_9"}, {"limit", "3"}}));
  EXPECT_EQ(listed.observation, Observation::object) << listed.message;
  EXPECT_EQ(listed.objects.size(), std::size_t{count});
  const auto none =
      perform(*provider_, keyed(Operation::list_intents, "l", {{"customer", "cus_9"}}));
  EXPECT_EQ(none.observation, Observation::object) << none.message;
  EXPECT_TRUE(none.objects.empty());
}

struct FaultCase {
  const char* name;
  const char* rule;
  Observation expected;
  std::size_t money_taken;
  /// What the same key brings once the fault is over.
  Observation again;
  std::chrono::milliseconds timeout = 20s;
};

std::ostream& operator<<(std::ostream& out, const FaultCase& row) {
  return out << row.name;
}

class StripeWithFault : public StripeWithSimulator, public testing::WithParamInterface<FaultCase> {
 protected:
  StripeWithFault() : StripeWithSimulator(GetParam().timeout) {}
};

TEST_P(StripeWithFault, ObservesItAndTheSameKeyNeverTakesMoneyTwice) {
  const FaultCase& row = GetParam();
  ASSERT_EQ(charge("warm-up").observation, Observation::object);  // the connection is kept
  // The port's next requests meet the fault, also if libcurl sends twice.
  set_fault(row.rule);
  const auto answer = charge("k1");
  EXPECT_EQ(to_text(answer.observation), to_text(row.expected)) << answer.code;
  EXPECT_EQ(succeeded(), 1U + row.money_taken);
  simulator_->clear_faults();
  EXPECT_EQ(to_text(charge("k1").observation), to_text(row.again));
  EXPECT_LE(succeeded(), 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, StripeWithFault,
    testing::Values(FaultCase{"drop_before_rst", R"({"kind":"drop_before","end":"rst"})",
                              Observation::broken, 0, Observation::object},
                    FaultCase{"commit_rst_mid", R"({"kind":"commit_rst_mid","bytes":20})",
                              Observation::broken, 1, Observation::object},
                    FaultCase{"commit_500", R"({"kind":"commit_500"})", Observation::server_error,
                              1, Observation::server_error},
                    FaultCase{"fail_500", R"({"kind":"fail_500"})", Observation::server_error, 0,
                              Observation::server_error},
                    FaultCase{"gateway_committed", R"({"kind":"gw_502","commit":true})",
                              Observation::gateway_error, 1, Observation::object},
                    FaultCase{"gateway_not_committed", R"({"kind":"gw_503"})",
                              Observation::gateway_error, 0, Observation::object},
                    FaultCase{"rate_limited", R"({"kind":"rl_429","retry_after":7})",
                              Observation::rate_limited, 0, Observation::object},
                    FaultCase{"lock_timeout", R"({"kind":"lock_429"})", Observation::lock_timeout,
                              0, Observation::object},
                    FaultCase{"bad_json", R"({"kind":"bad_json_200"})", Observation::bad_body, 1,
                              Observation::object},
                    FaultCase{"hang_committed", R"({"kind":"hang","commit":true})",
                              Observation::broken, 1, Observation::object, 1s},
                    FaultCase{"slower_than_the_timeout", R"({"kind":"slow","delay_s":600})",
                              Observation::broken, 1, Observation::key_in_use, 1s}),
    [](const testing::TestParamInfo<FaultCase>& row) { return row.param.name; });

TEST_F(StripeWithSimulator, AnAnswerLostOnAKeptConnectionIsReSentUnseenWithTheSameKey) {
  ASSERT_EQ(charge("warm-up").observation, Observation::object);
  set_fault(R"({"kind":"commit_drop","count":1})");
  const auto answer = charge("k1");
  EXPECT_EQ(answer.observation, Observation::object);
  EXPECT_FALSE(answer.single_wire_send);
  EXPECT_EQ(succeeded(), 2U) << "warm-up and k1, each once";
  std::size_t sends = 0;
  for (const auto& row : simulator_->trace()) sends += row.key == "k1" ? 1U : 0U;
  EXPECT_EQ(sends, 2U);
}

TEST_F(StripeWithSimulator, AWrongAmountIsHandedOnForTheEntityToSee) {
  set_fault(R"({"kind":"wrong_amount_200","count":1})");
  const auto answer = charge("k1");
  EXPECT_EQ(answer.observation, Observation::object);
  EXPECT_NE(answer.objects.at(0).amount_minor, 4'990);
}

TEST_F(StripeWithSimulator, OtherParametersUnderTheSameKeyAreAMismatch) {
  ASSERT_EQ(charge("k1").observation, Observation::object);
  auto params = charge_params;
  params[0].second = "1";
  EXPECT_EQ(perform(*provider_, keyed(Operation::create_charge, "k1", params)).observation,
            Observation::key_mismatch);
}

TEST_F(StripeWithSimulator, RetryAfterComesThrough) {
  set_fault(R"({"kind":"rl_429","retry_after":7,"count":1})");
  EXPECT_EQ(charge("k1").retry_after, 7s);
}

TEST_F(StripeWithSimulator, WrongCredentialsPauseTheSender) {
  set_fault(R"({"kind":"auth_401","count":1})");
  EXPECT_EQ(charge("k1").observation, Observation::unauthorized);
  EXPECT_NE(provider_->stats().paused_reason, "");
  EXPECT_FALSE(provider_->try_acquire());
}

TEST_F(StripeWithSimulator, FollowsTheProvidersClock) {
  ASSERT_EQ(charge("k1").observation, Observation::object);
  const auto before = provider_->provider_now();
  ASSERT_TRUE(before.has_value());
  simulator_->advance_clock(std::chrono::hours{24});
  ASSERT_EQ(charge("k2").observation, Observation::object);
  const auto after = provider_->provider_now();
  EXPECT_GE(after->ms - before->ms, 86'400'000 - 2'000);
}

}  // namespace
}  // namespace onceward::provider::test

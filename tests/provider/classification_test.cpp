// Each row of the classification table is a test of its own: what an answer is observed as, what an
// observation means for a first and for a tainted send, and the buckets of decline codes.
#include <onceward/provider/classification.hpp>

#include <gtest/gtest.h>

#include <string>

namespace onceward::provider {
namespace {

struct AnswerCase {
  int status;
  const char* type;
  const char* code;
  Observation expected;
};

std::string name_of(const testing::TestParamInfo<AnswerCase>& info) {
  std::string name = std::to_string(info.index) + "_http_" + std::to_string(info.param.status) +
                     "_" + info.param.type + "_" + info.param.code + "_is_";
  return name.append(to_text(info.param.expected));
}

class ObserveRow : public testing::TestWithParam<AnswerCase> {};

TEST_P(ObserveRow, NamesTheAnswer) {
  const AnswerCase& c = GetParam();
  EXPECT_EQ(to_text(observe(c.status, c.type, c.code)), to_text(c.expected));
}

constexpr const char* request_error = "invalid_request_error";

INSTANTIATE_TEST_SUITE_P(
    Table, ObserveRow,
    testing::Values(
        AnswerCase{200, "", "", Observation::object}, AnswerCase{201, "", "", Observation::object},
        AnswerCase{301, "", "", Observation::redirect},
        AnswerCase{307, "", "", Observation::redirect},
        AnswerCase{400, request_error, "parameter_missing", Observation::invalid_request},
        AnswerCase{400, request_error, "amount_too_small", Observation::invalid_request},
        AnswerCase{400, request_error, "", Observation::invalid_request},
        AnswerCase{400, request_error, "payment_intent_unexpected_state",
                   Observation::unexpected_state},
        AnswerCase{400, "idempotency_error", "", Observation::key_mismatch},
        // Without the provider's own error object nobody says that nothing was executed.
        AnswerCase{400, "", "", Observation::other_client_error},
        AnswerCase{401, request_error, "", Observation::unauthorized},
        AnswerCase{401, "", "", Observation::unauthorized},
        AnswerCase{402, "card_error", "card_declined", Observation::declined},
        AnswerCase{402, "", "", Observation::other_client_error},
        AnswerCase{402, "api_error", "", Observation::other_client_error},
        AnswerCase{403, request_error, "", Observation::unauthorized},
        AnswerCase{404, request_error, "resource_missing", Observation::not_found},
        AnswerCase{408, "", "", Observation::other_client_error},
        AnswerCase{409, request_error, "idempotency_key_in_use", Observation::key_in_use},
        AnswerCase{409, request_error, "something_else", Observation::other_client_error},
        AnswerCase{424, "api_error", "", Observation::other_client_error},
        AnswerCase{429, request_error, "rate_limit", Observation::rate_limited},
        AnswerCase{429, "", "", Observation::rate_limited},
        AnswerCase{429, request_error, "lock_timeout", Observation::lock_timeout},
        AnswerCase{499, "", "", Observation::other_client_error},
        AnswerCase{500, "api_error", "", Observation::server_error},
        AnswerCase{501, "", "", Observation::server_error},
        AnswerCase{502, "", "", Observation::gateway_error},
        AnswerCase{503, "api_error", "", Observation::gateway_error},
        AnswerCase{504, "", "", Observation::gateway_error},
        AnswerCase{505, "", "", Observation::server_error},
        AnswerCase{529, "", "", Observation::server_error},
        AnswerCase{100, "", "", Observation::server_error},
        AnswerCase{0, "", "", Observation::server_error}),
    name_of);

struct MeaningCase {
  Observation observation;
  Verdict first;
  Verdict tainted;
  bool pointless;
};

std::string observation_name(const testing::TestParamInfo<MeaningCase>& info) {
  return std::string(to_text(info.param.observation));
}

class MeaningRow : public testing::TestWithParam<MeaningCase> {};

TEST_P(MeaningRow, SaysWhatItMeansForTheMoney) {
  const MeaningCase& c = GetParam();
  EXPECT_EQ(verdict(c.observation, false), c.first);
  EXPECT_EQ(verdict(c.observation, true), c.tainted);
  EXPECT_EQ(same_key_is_pointless(c.observation), c.pointless);
}

TEST_P(MeaningRow, NeverTurnsATaintedSendIntoNothingHappened) {
  const Verdict tainted = verdict(GetParam().observation, true);
  EXPECT_NE(tainted, Verdict::rejected);
  EXPECT_NE(tainted, Verdict::not_executed);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MeaningRow,
    testing::Values(
        MeaningCase{Observation::object, Verdict::by_status, Verdict::by_status, true},
        MeaningCase{Observation::declined, Verdict::declined, Verdict::declined, true},
        MeaningCase{Observation::invalid_request, Verdict::rejected, Verdict::unknown, true},
        MeaningCase{Observation::unexpected_state, Verdict::look_up_first, Verdict::look_up_first,
                    true},
        MeaningCase{Observation::key_mismatch, Verdict::unknown, Verdict::unknown, true},
        MeaningCase{Observation::unauthorized, Verdict::not_executed, Verdict::unknown, false},
        MeaningCase{Observation::not_found, Verdict::rejected, Verdict::unknown, true},
        MeaningCase{Observation::key_in_use, Verdict::unknown, Verdict::unknown, false},
        MeaningCase{Observation::rate_limited, Verdict::not_executed, Verdict::unknown, false},
        MeaningCase{Observation::lock_timeout, Verdict::not_executed, Verdict::unknown, false},
        MeaningCase{Observation::other_client_error, Verdict::unknown, Verdict::unknown, true},
        MeaningCase{Observation::server_error, Verdict::unknown, Verdict::unknown, true},
        MeaningCase{Observation::gateway_error, Verdict::unknown, Verdict::unknown, false},
        MeaningCase{Observation::redirect, Verdict::unknown, Verdict::unknown, true},
        MeaningCase{Observation::bad_body, Verdict::unknown, Verdict::unknown, true},
        MeaningCase{Observation::not_sent, Verdict::not_executed, Verdict::unknown, false},
        MeaningCase{Observation::broken, Verdict::unknown, Verdict::unknown, false}),
    observation_name);

struct BucketCase {
  const char* code;
  DeclineBucket bucket;
};

class DeclineBucketRow : public testing::TestWithParam<BucketCase> {};

TEST_P(DeclineBucketRow, IsFoundAsDeclineCodeAndAsCode) {
  const BucketCase& c = GetParam();
  EXPECT_EQ(decline_bucket("card_declined", c.code), c.bucket);
  EXPECT_EQ(decline_bucket(c.code, ""), c.bucket);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DeclineBucketRow,
    testing::Values(BucketCase{"insufficient_funds", DeclineBucket::later},
                    BucketCase{"processing_error", DeclineBucket::later},
                    BucketCase{"issuer_not_available", DeclineBucket::later},
                    BucketCase{"try_again_later", DeclineBucket::later},
                    BucketCase{"reenter_transaction", DeclineBucket::later},
                    BucketCase{"approve_with_id", DeclineBucket::later},
                    BucketCase{"generic_decline", DeclineBucket::later},
                    BucketCase{"do_not_honor", DeclineBucket::later},
                    BucketCase{"card_velocity_exceeded", DeclineBucket::later},
                    BucketCase{"authentication_required", DeclineBucket::customer_action},
                    BucketCase{"expired_card", DeclineBucket::customer_action},
                    BucketCase{"incorrect_cvc", DeclineBucket::customer_action},
                    BucketCase{"invalid_expiry_month", DeclineBucket::customer_action},
                    BucketCase{"invalid_expiry_year", DeclineBucket::customer_action},
                    BucketCase{"incorrect_number", DeclineBucket::customer_action},
                    BucketCase{"card_not_supported", DeclineBucket::customer_action},
                    BucketCase{"currency_not_supported", DeclineBucket::customer_action},
                    BucketCase{"lost_card", DeclineBucket::never},
                    BucketCase{"stolen_card", DeclineBucket::never},
                    BucketCase{"pickup_card", DeclineBucket::never},
                    BucketCase{"revocation_of_authorization", DeclineBucket::never},
                    BucketCase{"revocation_of_all_authorizations", DeclineBucket::never},
                    BucketCase{"highest_risk_level", DeclineBucket::never},
                    BucketCase{"transaction_not_allowed", DeclineBucket::never},
                    BucketCase{"stop_payment_order", DeclineBucket::never},
                    BucketCase{"a_code_of_next_year", DeclineBucket::later},
                    BucketCase{"", DeclineBucket::later}),
    [](const testing::TestParamInfo<BucketCase>& row) {
      return std::to_string(row.index) + "_" + row.param.code;
    });

TEST(DeclineBuckets, TakesTheStricterOfCodeAndDeclineCode) {
  EXPECT_EQ(decline_bucket("expired_card", "generic_decline"), DeclineBucket::customer_action);
  EXPECT_EQ(decline_bucket("expired_card", "lost_card"), DeclineBucket::never);
  EXPECT_EQ(decline_bucket("lost_card", "a_code_of_next_year"), DeclineBucket::never);
}

TEST(ExternalCall, LookUpsAreExactlyTheReads) {
  EXPECT_FALSE(is_look_up(Operation::create_charge));
  EXPECT_FALSE(is_look_up(Operation::create_intent));
  EXPECT_FALSE(is_look_up(Operation::confirm_intent));
  EXPECT_FALSE(is_look_up(Operation::cancel_intent));
  EXPECT_FALSE(is_look_up(Operation::update_intent));
  EXPECT_FALSE(is_look_up(Operation::create_refund));
  EXPECT_TRUE(is_look_up(Operation::get_intent));
  EXPECT_TRUE(is_look_up(Operation::get_charge));
  EXPECT_TRUE(is_look_up(Operation::get_refund));
  EXPECT_TRUE(is_look_up(Operation::list_intents));
  EXPECT_TRUE(is_look_up(Operation::list_charges));
  EXPECT_TRUE(is_look_up(Operation::list_refunds));
}

}  // namespace
}  // namespace onceward::provider

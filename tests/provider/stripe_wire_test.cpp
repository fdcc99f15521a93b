// The pure parts of the Stripe client: spelling of requests, dates, reading of bodies, checks of
// options.
#include "provider/stripe/answer_parser.hpp"
#include "provider/stripe/call_state.hpp"
#include "provider/stripe/options_check.hpp"
#include "provider/stripe/provider_time.hpp"
#include "provider/stripe/wire_request.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <type_traits>

namespace onceward::provider::stripe {
namespace {

TEST(FormEncode, KeepsOrderAndBracketsAndEncodesTheRest) {
  EXPECT_EQ(form_encode({{"amount", "1"},
                         {"metadata[a b]", "x&y=z"},
                         {"payment_method_types[0]", "card"},
                         {"empty", ""}}),
            "amount=1&metadata[a%20b]=x%26y%3Dz&payment_method_types[0]=card&empty=");
  EXPECT_EQ(form_encode({{"d", "-_.~!*'()[]"}}), "d=-_.~%21%2A%27%28%29%5B%5D");
  EXPECT_EQ(form_encode({{"n\xc3\xa9", "\xe2\x82\xac +%\n"}}), "n%C3%A9=%E2%82%AC%20%2B%25%0A");
  EXPECT_EQ(form_encode({}), "");
}

TEST(PathOf, SpellsEveryOperation) {
  const auto path = [](Operation operation) { return path_of(row_of(operation), "id_1"); };
  EXPECT_EQ(path(Operation::create_charge), "/v1/charges");
  EXPECT_EQ(path(Operation::create_intent), "/v1/payment_intents");
  EXPECT_EQ(path(Operation::confirm_intent), "/v1/payment_intents/id_1/confirm");
  EXPECT_EQ(path(Operation::cancel_intent), "/v1/payment_intents/id_1/cancel");
  EXPECT_EQ(path(Operation::update_intent), "/v1/payment_intents/id_1");
  EXPECT_EQ(path(Operation::create_refund), "/v1/refunds");
  EXPECT_EQ(path(Operation::get_intent), "/v1/payment_intents/id_1");
  EXPECT_EQ(path(Operation::get_charge), "/v1/charges/id_1");
  EXPECT_EQ(path(Operation::get_refund), "/v1/refunds/id_1");
  EXPECT_EQ(path(Operation::list_intents), "/v1/payment_intents");
  EXPECT_EQ(path(Operation::list_charges), "/v1/charges");
  EXPECT_EQ(path(Operation::list_refunds), "/v1/refunds");
}

TEST(PathOf, NoIdReachesAnotherPath) {
  const OperationRow& row = row_of(Operation::get_intent);
  EXPECT_EQ(path_of(row, "../charges?x#y"), "/v1/payment_intents/%2E%2E%2Fcharges%3Fx%23y");
}

TEST(OperationRows, PostExactlyWhatIsNoLookUp) {
  for (int i = 0; i <= static_cast<int>(Operation::list_refunds); ++i) {
    const auto operation = static_cast<Operation>(i);
    EXPECT_NE(row_of(operation).is_post, is_look_up(operation)) << to_text(operation);
  }
}

TEST(SendableKey, IsVisibleAsciiOfAtMost255Characters) {
  EXPECT_TRUE(is_sendable_key("k"));
  EXPECT_TRUE(is_sendable_key(std::string(255, '~')));
  EXPECT_FALSE(is_sendable_key(""));
  EXPECT_FALSE(is_sendable_key(std::string(256, 'k')));
  EXPECT_FALSE(is_sendable_key("a b"));
  EXPECT_FALSE(is_sendable_key("a\r\nX: 1"));
  EXPECT_FALSE(is_sendable_key("\xc3\xa9"));
}

TEST(HttpDate, ReadsTheOneFormAndNoOther) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")->ms, 784'111'777'000);
  EXPECT_EQ(parse_http_date("Thu, 29 Feb 2024 23:59:59 GMT")->ms, 1'709'251'199'000);
  for (const char* text : {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                           "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 25:49:37 GMT",
                           "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
                           "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT "}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

TEST(ProviderTime, GoesOnByTheMonotonicClock) {
  ProviderTime time;
  EXPECT_EQ(time.now(5), std::nullopt);
  time.saw({100'000}, 1'000);
  EXPECT_EQ(time.now(1'000), Timestamp{100'000});
  EXPECT_EQ(time.now(4'500), Timestamp{103'500});
  EXPECT_EQ(time.now(0), Timestamp{100'000}) << "never before what was seen";
}

TEST(ProviderTime, NeverStepsBackForJitterButFollowsACorrection) {
  ProviderTime time;
  time.saw({100'000}, 0);
  time.saw({100'000}, 900);  // the same second, read later
  EXPECT_EQ(time.now(900), Timestamp{100'900});
  time.saw({103'000}, 1'000);
  EXPECT_EQ(time.now(1'000), Timestamp{103'000});
  time.saw({50'000}, 2'000);
  EXPECT_EQ(time.now(2'000), Timestamp{50'000});
}

// --- bodies ---

const std::string intent_body =
    R"({"id":"pi_1","object":"payment_intent","amount":4990,"amount_received":4990,)"
    R"("currency":"usd",)"
    R"("customer":"cus_1","created":1700000000,"status":"succeeded","latest_charge":"ch_1",)"
    R"("last_payment_error":null,"metadata":{"onceward_period":"2026-08","b":"c:\"d\""}})";

std::string with(std::string body, const std::string& from, const std::string& to) {
  const auto at = body.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return body.replace(at, from.size(), to);
}

std::optional<ProviderObject> parse_intent(const std::string& body) {
  AnswerParser parser;
  auto object = parser.parse_object(body, "payment_intent");
  EXPECT_EQ(object.has_value(), parser.problem().empty()) << parser.problem();
  return object;
}

TEST(AnswerParser, ReadsAnIntent) {
  const auto intent = parse_intent(intent_body);
  ASSERT_TRUE(intent.has_value());
  ProviderObject expected;
  expected.object = "payment_intent";
  expected.id = "pi_1";
  expected.status = "succeeded";
  expected.amount_minor = 4'990;
  expected.currency = "usd";
  expected.customer = "cus_1";
  expected.charge = "ch_1";
  expected.created_s = 1'700'000'000;
  expected.metadata = {{"onceward_period", "2026-08"}, {"b", "c:\"d\""}};
  EXPECT_EQ(*intent, expected);
}

TEST(AnswerParser, AnIntentThatSucceededWithTwoAmountsMatchesNone) {
  const auto less = with(intent_body, "\"amount_received\":4990", "\"amount_received\":10");
  EXPECT_EQ(parse_intent(less)->amount_minor, -1);
  const auto other = with(intent_body, "\"amount\":4990", "\"amount\":4991");
  EXPECT_EQ(parse_intent(other)->amount_minor, -1);
  const auto open = with(less, "succeeded", "processing");
  EXPECT_EQ(parse_intent(open)->amount_minor, 4'990);
}

TEST(AnswerParser, ReadsReferencesAsIdOrAsObject) {
  auto body = with(intent_body, R"("latest_charge":"ch_1")",
                   R"("latest_charge":{"id":"ch_2","object":"charge"})");
  body = with(body, R"("customer":"cus_1")", R"("customer":{"id":"cus_2","deleted":true})");
  EXPECT_EQ(parse_intent(body)->charge, "ch_2");
  EXPECT_EQ(parse_intent(body)->customer, "cus_2");
  EXPECT_EQ(parse_intent(with(intent_body, R"("ch_1")", "null"))->charge, "");
}

TEST(AnswerParser, ReadsTheLastPaymentError) {
  const auto failed = with(
      with(intent_body, "succeeded", "requires_payment_method"), R"("last_payment_error":null)",
      R"("last_payment_error":{"code":"card_declined","decline_code":"lost_card",)"
      R"("charge":"ch_7"})");
  const auto intent = parse_intent(failed);
  EXPECT_EQ(intent->failure_code, "card_declined");
  EXPECT_EQ(intent->decline_code, "lost_card");
  EXPECT_EQ(intent->failure_charge, "ch_7");
}

TEST(AnswerParser, ReadsACharge) {
  AnswerParser parser;
  const std::string body =
      R"({"id":"ch_1","object":"charge","amount":100,"amount_captured":100,"currency":"jpy",)"
      R"("status":"failed","failure_code":"card_declined","outcome":{"reason":"do_not_honor"},)"
      R"("payment_intent":"pi_1","customer":null,"metadata":{}})";
  const auto charge = parser.parse_object(body, "charge");
  ASSERT_TRUE(charge.has_value()) << parser.problem();
  EXPECT_EQ(charge->payment_intent, "pi_1");
  EXPECT_EQ(charge->failure_code, "card_declined");
  EXPECT_EQ(charge->decline_code, "do_not_honor");
  EXPECT_EQ(charge->amount_minor, 100);
  // Held, not taken.
  const auto held =
      with(with(body, "\"failed\"", "\"succeeded\""), "captured\":100", "captured\":0");
  EXPECT_EQ(parser.parse_object(held, "charge")->amount_minor, -1);
}

TEST(AnswerParser, ReadsARefundWithoutStatus) {
  AnswerParser parser;
  const auto refund = parser.parse_object(
      R"({"id":"re_1","object":"refund","amount":100,"currency":"usd","status":null,)"
      R"("charge":"ch_1","payment_intent":{"id":"pi_1"}})",
      "refund");
  ASSERT_TRUE(refund.has_value()) << parser.problem();
  EXPECT_EQ(refund->charge, "ch_1");
  EXPECT_EQ(refund->payment_intent, "pi_1");
}

struct BadBody {
  const char* name;
  const char* from;
  const char* to;
};

class UnreadableIntent : public testing::TestWithParam<BadBody> {};

TEST_P(UnreadableIntent, IsRefusedWithAReason) {
  EXPECT_EQ(parse_intent(with(intent_body, GetParam().from, GetParam().to)), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, UnreadableIntent,
    testing::Values(
        BadBody{"amount_as_text", "\"amount\":4990", "\"amount\":\"4990\""},
        BadBody{"amount_as_fraction", "\"amount\":4990", "\"amount\":4990.0"},
        BadBody{"amount_as_exponent", "\"amount\":4990", "\"amount\":4.99e3"},
        BadBody{"amount_negative", "\"amount\":4990", "\"amount\":-4990"},
        BadBody{"amount_too_large", "\"amount\":4990", "\"amount\":18446744073709551615"},
        BadBody{"amount_null", "\"amount\":4990", "\"amount\":null"},
        BadBody{"amount_missing", "\"amount\":4990,", ""},
        BadBody{"received_missing", "\"amount_received\":4990,", ""},
        BadBody{"received_as_text", "\"amount_received\":4990", "\"amount_received\":\"4990\""},
        BadBody{"id_missing", "\"id\":\"pi_1\",", ""},
        BadBody{"id_empty", "\"id\":\"pi_1\"", "\"id\":\"\""},
        BadBody{"id_as_number", "\"id\":\"pi_1\"", "\"id\":1"},
        BadBody{"status_missing", "\"status\":\"succeeded\",", ""},
        BadBody{"status_as_bool", "\"status\":\"succeeded\"", "\"status\":true"},
        BadBody{"currency_missing", "\"currency\":\"usd\",", ""},
        BadBody{"other_kind", "\"object\":\"payment_intent\"", "\"object\":\"charge\""},
        BadBody{"kind_missing", "\"object\":\"payment_intent\",", ""},
        BadBody{"charge_as_number", "\"latest_charge\":\"ch_1\"", "\"latest_charge\":1"},
        BadBody{"charge_without_id", "\"latest_charge\":\"ch_1\"", "\"latest_charge\":{}"},
        BadBody{"created_as_text", "1700000000", "\"1700000000\""},
        BadBody{"metadata_as_list", "{\"onceward_period\":\"2026-08\",", "[],\"x\":{"},
        BadBody{"metadata_value_number", "\"2026-08\"", "202608"},
        BadBody{"error_as_text", "\"last_payment_error\":null", "\"last_payment_error\":\"x\""},
        BadBody{"status_twice", "\"created\":", "\"status\":\"succeeded\",\"created\":"},
        BadBody{"nested_twice", "\"b\":", "\"onceward_period\":\"2026-08\",\"b\":"},
        BadBody{"comma_missing", ",\"amount\"", "\"amount\""},
        BadBody{"trailing_text", "d\\\"\"}}", "d\\\"\"}} x"},
        BadBody{"invalid_utf8", "cus_1", "cus_\xff"}),
    [](const testing::TestParamInfo<BadBody>& row) { return row.param.name; });

TEST(AnswerParser, RefusesWhatIsNoObjectAtAll) {
  for (const std::string body : {"", "null", "[]", "\"pi_1\"", "{}",
                                 "<html><body>200 OK</body></html>", "{\"id\":\"pi_1\""}) {
    EXPECT_EQ(parse_intent(body), std::nullopt) << body;
  }
  EXPECT_EQ(parse_intent(intent_body.substr(0, intent_body.size() - 1)), std::nullopt);
  EXPECT_EQ(parse_intent(std::string(100'000, '[')), std::nullopt);
}

TEST(AnswerParser, IsAsGoodAsNewAfterABadBody) {
  AnswerParser parser;
  EXPECT_FALSE(parser.parse_object("{", "payment_intent").has_value());
  EXPECT_TRUE(parser.parse_object(intent_body, "payment_intent").has_value());
  const std::string large = with(intent_body, "cus_1", std::string(100'000, 'x'));
  EXPECT_EQ(parser.parse_object(large, "payment_intent")->customer.size(), 100'000U);
  EXPECT_TRUE(parser.parse_object(intent_body, "payment_intent").has_value());
}

TEST(AnswerParser, ReadsAPage) {
  AnswerParser parser;
  const auto page = parser.parse_list(
      R"({"object":"list","has_more":true,"data":[)" + intent_body + "]}", "payment_intent");
  ASSERT_TRUE(page.has_value()) << parser.problem();
  EXPECT_TRUE(page->has_more);
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].id, "pi_1");
}

TEST(AnswerParser, RefusesPagesThatMayBeIncomplete) {
  AnswerParser parser;
  for (const std::string body :
       {R"({"object":"list","data":[]})", R"({"object":"list","has_more":"false","data":[]})",
        R"({"object":"list","has_more":null,"data":[]})", R"({"object":"list","has_more":false})",
        R"({"object":"list","has_more":false,"data":{}})",
        R"({"object":"list","has_more":false,"data":[1]})",
        R"({"object":"list","has_more":false,"data":[{"id":"pi_1"}]})",
        R"({"object":"search_result","has_more":false,"data":[]})",
        R"({"has_more":false,"data":[]})"}) {
    EXPECT_FALSE(parser.parse_list(body, "payment_intent").has_value()) << body;
    EXPECT_FALSE(parser.problem().empty());
  }
}

TEST(AnswerParser, ReadsARefusal) {
  AnswerParser parser;
  const auto error = parser.parse_error(
      R"({"error":{"type":"card_error","code":"card_declined","decline_code":"lost_card",)"
      R"("message":"No.","charge":"ch_1","payment_intent":)" +
      with(intent_body, "succeeded", "requires_payment_method") + "}}");
  EXPECT_EQ(error.type, "card_error");
  EXPECT_EQ(error.code, "card_declined");
  EXPECT_EQ(error.decline_code, "lost_card");
  EXPECT_EQ(error.message, "No.");
  EXPECT_EQ(error.charge, "ch_1");
  ASSERT_TRUE(error.payment_intent.has_value());
  EXPECT_EQ(error.payment_intent->status, "requires_payment_method");
}

TEST(AnswerParser, DoesNotBelieveRefusalsThatDoNotReadAsOne) {
  AnswerParser parser;
  for (const std::string body : {"", "<html>402</html>", "{}", R"({"error":"card_error"})",
                                 R"({"error":{"type":"card_error","code":7}})",
                                 R"({"error":{"type":"card_error","type":"api_error"}})"}) {
    EXPECT_EQ(parser.parse_error(body).type, "") << body;
  }
  // Only the intent inside is unreadable: the refusal stands.
  const auto error = parser.parse_error(
      R"({"error":{"type":"card_error","code":"card_declined","payment_intent":{"id":1}}})");
  EXPECT_EQ(error.type, "card_error");
  EXPECT_FALSE(error.payment_intent.has_value());
}

// --- messages and secrets ---

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printable<platform::Secret>);
static_assert(!std::is_copy_constructible_v<platform::Secret>);
static_assert(!std::is_convertible_v<platform::Secret, std::string_view>);

TEST(Secret, LeavesNothingBehindWhenMoved) {
  platform::Secret first("sk_test_1");
  platform::Secret second(std::move(first));
  EXPECT_TRUE(first.is_empty());  // NOLINT: the moved-from state is what is tested
  EXPECT_EQ(second.reveal(), "sk_test_1");
  first = std::move(second);
  EXPECT_TRUE(second.is_empty());  // NOLINT
  EXPECT_EQ(first.reveal(), "sk_test_1");
}

TEST(CleanMessage, IsShortPrintableAndWithoutTheSecret) {
  EXPECT_EQ(clean_message("a\nb\x1b[31mc", "sk_test_1"), "a b [31mc");
  EXPECT_EQ(clean_message(std::string(600, 'x'), "sk_test_1").size(), 500U);
  EXPECT_EQ(clean_message(std::string(499, 'x') + "\xc3\xa9", "s"), std::string(499, 'x'));
  EXPECT_EQ(clean_message("Invalid key sk_test_1", "sk_test_1").find("sk_test_1"),
            std::string::npos);
}

// --- options ---

StripeProviderOptions good_options() {
  StripeProviderOptions options;
  options.secret_key = platform::Secret("sk_test_1");
  return options;
}

std::string refusal_of(StripeProviderOptions options) {
  const auto checked = check_options(std::move(options));
  if (checked) return {};
  EXPECT_EQ(checked.error().code, ErrorCode::invalid_config);
  EXPECT_EQ(checked.error().context.find("sk_live"), std::string::npos) << "tells the secret";
  return checked.error().context;
}

TEST(CheckOptions, TakesWhatIsRight) {
  EXPECT_EQ(refusal_of(good_options()), "");
  for (const char* url :
       {"http://127.0.0.1:8080", "https://[::1]:8080", "https://proxy.example/"}) {
    auto options = good_options();
    options.base_url = url;
    EXPECT_EQ(refusal_of(std::move(options)), "") << url;
  }
}

TEST(CheckOptions, RefusesUrlsThatAreMoreThanAHost) {
  for (const char* url :
       {"", "api.stripe.com", "ftp://api.stripe.com", "https://", "https://api.stripe.com/v1",
        "https://user@api.stripe.com", "https://api.stripe.com?x", "https://api.stripe.com\r\n"}) {
    auto options = good_options();
    options.base_url = url;
    EXPECT_NE(refusal_of(std::move(options)), "") << url;
  }
}

TEST(CheckOptions, RefusesToSendALiveKeyInClearText) {
  for (const char* key : {"sk_live_1", "rk_live_1"}) {
    auto options = good_options();
    options.secret_key = platform::Secret(key);
    options.base_url = "http://127.0.0.1:8080";
    EXPECT_NE(refusal_of(std::move(options)).find("plain http"), std::string::npos);
  }
}

TEST(CheckOptions, RefusesTheRest) {
  for (const char* key : {"", "sk_live_1\n", "sk live"}) {
    auto options = good_options();
    options.secret_key = platform::Secret(key);
    EXPECT_NE(refusal_of(std::move(options)), "") << key;
  }
  auto options = good_options();
  options.stripe_version = "2024 06";
  EXPECT_NE(refusal_of(std::move(options)), "");
  options = good_options();
  options.timeout = std::chrono::milliseconds{0};
  EXPECT_NE(refusal_of(std::move(options)), "");
  options = good_options();
  options.max_in_flight = 0;
  EXPECT_NE(refusal_of(std::move(options)), "");
  options = good_options();
  options.probe_interval = std::chrono::milliseconds{0};
  EXPECT_NE(refusal_of(std::move(options)), "");
}

}  // namespace
}  // namespace onceward::provider::stripe

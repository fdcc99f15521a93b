// POST /v1/billing: every row of its table of answers, against a runtime that answers as scripted.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <onceward/ingress/status_table.hpp>

#include "tests/ingress/fake_node.hpp"

namespace onceward::ingress {
namespace {

using billing::BillCustomer;
using billing::BillingReply;
using test::header_of;
using test::Inbox;
using test::text_at;

constexpr const char* sound_body = R"({"customer":"cust_1","period":"2026-08","amount_minor":4990,)"
                                   R"("currency":"usd","payment_method":"pm_1"})";

ObligationRow row_of(const BillCustomer& command, ObligationStatus status) {
  ObligationRow row;
  row.key = command.key;
  row.amount = command.amount;
  row.status = status;
  row.request_id = command.request_id;
  if (status == ObligationStatus::completed) row.charge_id = "ch_1";
  return row;
}

class BillExchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto clock = platform::SystemClock::open({});
    ASSERT_TRUE(clock.has_value());
    clock_ = std::move(*clock);
    runtime_.on_ask = [this](const BillCustomer& command, const test::FakeRuntime::Told& told) {
      store_.put(row_of(command, ObligationStatus::completed));
      store_.put(*command.caller_mark);
      told(billing::Told{.row = row_of(command, ObligationStatus::completed)});
    };
    start({});
  }

  void start(HttpApiOptions options) {
    options.acceptance_max = std::chrono::milliseconds{300};
    auto api =
        HttpApi::start(std::move(options),
                       {.runtime = runtime_,
                        .journal = journal_,
                        .clock = *clock_,
                        .runs = nullptr,
                        .not_ready = [this]() -> std::optional<std::string> {
                          return draining_ ? std::optional<std::string>("draining") : std::nullopt;
                        }});
    ASSERT_TRUE(api.has_value());
    api_ = std::move(*api);
  }

  static platform::HttpRequest post(const std::string& key, const std::string& body = sound_body,
                                    const std::string& prefer = "") {
    platform::HttpRequest request;
    request.method = "POST";
    request.path = "/v1/billing";
    if (!key.empty()) request.headers.push_back({"Idempotency-Key", key});
    if (!prefer.empty()) request.headers.push_back({"Prefer", prefer});
    request.body = body;
    return request;
  }
  platform::HttpResponse ask(platform::HttpRequest request) {
    Inbox inbox;
    api_->handle(std::move(request), inbox.answer());
    return inbox.wait();
  }
  void replies(BillingReply reply) {
    runtime_.on_ask = [reply = std::move(reply)](const BillCustomer&,
                                                 const test::FakeRuntime::Told& told) {
      told(reply);
    };
  }
  ObligationRow sound_row(ObligationStatus status) {
    ObligationRow row;
    row.key = {CustomerId{"cust_1"}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}};
    row.amount = {4990, *Currency::parse("usd")};
    row.status = status;
    row.request_id = RequestId{"first"};
    return row;
  }

  test::FakeStore store_;
  test::FakeJournal journal_{store_};
  test::FakeRuntime runtime_;
  std::unique_ptr<platform::SystemClock> clock_;
  std::atomic<bool> draining_ = false;
  std::unique_ptr<HttpApi> api_;  // last: ends first
};

TEST_F(BillExchangeTest, charged_within_the_wait_is_200) {
  const auto response = ask(post("k1"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(text_at(response, "status"), "completed");
  EXPECT_EQ(text_at(response, "charge_id"), "ch_1");
  EXPECT_EQ(text_at(response, "deduplicated"), "false");
  EXPECT_EQ(header_of(response, "Idempotent-Replayed"), "(absent)");
  EXPECT_EQ(header_of(response, "Preference-Applied"), "(absent)");
  EXPECT_EQ(header_of(response, "Cache-Control"), "no-store");
  EXPECT_NE(header_of(response, "Date"), "(absent)");
}

TEST_F(BillExchangeTest, missing_empty_long_or_double_key_is_400_and_asks_nobody) {
  EXPECT_EQ(ask(post("")).status, 400);
  EXPECT_EQ(ask(post("\"\"")).status, 400);
  EXPECT_EQ(ask(post(std::string(256, 'k'))).status, 400);
  auto twice = post("k1");
  twice.headers.push_back({"idempotency-key", "k1"});
  const auto response = ask(twice);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(header_of(response, "Content-Type"), "application/problem+json");
  EXPECT_EQ(text_at(response, "code"), "OW1001");
  EXPECT_EQ(text_at(response, "retryable"), "never");
  EXPECT_EQ(text_at(response, "charge_state"), "none");
  EXPECT_TRUE(runtime_.asked().empty());
}

TEST_F(BillExchangeTest, bad_body_is_400_and_does_not_use_up_the_key) {
  EXPECT_EQ(ask(post("k1", "{}")).status, 400);
  EXPECT_TRUE(runtime_.asked().empty());
  EXPECT_EQ(ask(post("k1")).status, 200);
}

TEST_F(BillExchangeTest, test_cards_are_refused_by_a_live_node_only) {
  const std::string body = R"({"customer":"c","period":"2026-08","amount_minor":1,)"
                           R"("currency":"usd","payment_method":"pm_card_visa"})";
  EXPECT_EQ(ask(post("k1", body)).status, 200);
  start({.tokens = {}, .mode = Mode::live});
  const auto response = ask(post("k2", body));
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(text_at(response, "detail").find("test cards"), std::string::npos);
  EXPECT_EQ(runtime_.asked().size(), 1U);
  EXPECT_EQ(ask(post("k3")).status, 200);
}

TEST_F(BillExchangeTest, every_status_has_the_code_of_the_table) {
  for (const auto status : all_obligation_statuses) {
    replies(billing::Told{.row = sound_row(status)});
    const auto response = ask(post("key-" + std::string(to_text(status))));
    EXPECT_EQ(response.status, status_row(status).post_status) << to_text(status);
  }
}

TEST_F(BillExchangeTest, wait_that_ends_first_is_202_with_location) {
  runtime_.on_ask = [this](const BillCustomer& command, const test::FakeRuntime::Told&) {
    store_.put(row_of(command, ObligationStatus::in_progress));
  };
  const auto response = ask(post("k1", sound_body, "wait=1"));
  EXPECT_EQ(response.status, 202);
  EXPECT_EQ(text_at(response, "status"), "in_progress");
  EXPECT_EQ(header_of(response, "Location"), "/v1/billing/cust_1/2026-08");
  EXPECT_EQ(header_of(response, "Retry-After"), "1");
  EXPECT_EQ(header_of(response, "Preference-Applied"), "wait=1");
}

TEST_F(BillExchangeTest, wait_of_zero_asks_to_be_told_when_accepted) {
  runtime_.on_ask = [this](const BillCustomer& command, const test::FakeRuntime::Told& told) {
    EXPECT_EQ(command.notify, billing::Notify::accepted);
    told(billing::Told{.row = row_of(command, ObligationStatus::in_progress)});
  };
  EXPECT_EQ(ask(post("k1", sound_body, "wait=0")).status, 202);
}

TEST_F(BillExchangeTest, silence_without_a_row_is_503_unknown_with_the_same_key) {
  runtime_.on_ask = [](const BillCustomer&, const test::FakeRuntime::Told&) {};
  const auto response = ask(post("k1", sound_body, "wait=0"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "charge_state"), "unknown");
  EXPECT_EQ(text_at(response, "retryable"), "same_key");
}

TEST_F(BillExchangeTest, late_reply_of_the_runtime_answers_nobody_twice) {
  test::FakeRuntime::Told late;
  BillCustomer asked;
  runtime_.on_ask = [&](const BillCustomer& command, const test::FakeRuntime::Told& told) {
    asked = command;
    late = told;
  };
  EXPECT_EQ(ask(post("k1", sound_body, "wait=0")).status, 503);
  late(billing::Told{.row = row_of(asked, ObligationStatus::completed)});  // Inbox checks
}

TEST_F(BillExchangeTest, same_key_while_in_the_handler_is_409_and_another_payload_422) {
  test::FakeRuntime::Told first;
  BillCustomer asked;
  runtime_.on_ask = [&](const BillCustomer& command, const test::FakeRuntime::Told& told) {
    asked = command;
    first = told;
  };
  Inbox inbox;
  api_->handle(post("k1"), inbox.answer());
  while (runtime_.asked().empty()) std::this_thread::yield();

  const auto second = ask(post("k1"));
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(text_at(second, "code"), "OW6004");
  EXPECT_EQ(header_of(second, "Retry-After"), "1");
  EXPECT_EQ(text_at(second, "charge_state"), "unknown");
  const std::string other = R"({"customer":"cust_1","period":"2026-08","amount_minor":1,)"
                            R"("currency":"usd","payment_method":"pm_1"})";
  const auto reused = ask(post("k1", other));
  EXPECT_EQ(reused.status, 422);
  EXPECT_EQ(text_at(reused, "charge_state"), "unknown") << "the first one may be charging it";
  EXPECT_TRUE(inbox.is_empty());

  first(billing::Told{.row = row_of(asked, ObligationStatus::completed)});
  EXPECT_EQ(inbox.wait().status, 200);
  EXPECT_EQ(runtime_.asked().size(), 1U);
}

TEST_F(BillExchangeTest, answered_key_replays_the_present_state_without_asking) {
  EXPECT_EQ(ask(post("k1")).status, 200);
  const auto again = ask(post("k1"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(header_of(again, "Idempotent-Replayed"), "true");
  EXPECT_EQ(text_at(again, "status"), "completed");
  EXPECT_EQ(text_at(again, "deduplicated"), "false");
  EXPECT_EQ(runtime_.asked().size(), 1U);
}

TEST_F(BillExchangeTest, replay_waits_for_an_open_obligation_and_sees_its_end) {
  runtime_.on_ask = [this](const BillCustomer& command, const test::FakeRuntime::Told& told) {
    store_.put(row_of(command, ObligationStatus::in_progress));
    store_.put(*command.caller_mark);
    told(billing::Told{.row = row_of(command, ObligationStatus::in_progress)});
  };
  EXPECT_EQ(ask(post("k1", sound_body, "wait=0")).status, 202);
  Inbox inbox;
  api_->handle(post("k1", sound_body, "wait=30"), inbox.answer());
  EXPECT_TRUE(inbox.is_empty());
  store_.put(row_of(runtime_.asked().front(), ObligationStatus::completed));
  const auto response = inbox.wait();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(header_of(response, "Idempotent-Replayed"), "true");
}

TEST_F(BillExchangeTest, answered_key_with_another_payload_is_422) {
  EXPECT_EQ(ask(post("k1")).status, 200);
  const std::string other = R"({"customer":"cust_1","period":"2026-08","amount_minor":4990,)"
                            R"("currency":"usd","payment_method":"pm_2"})";
  const auto response = ask(post("k1", other));
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(text_at(response, "code"), "OW6007");
  EXPECT_EQ(text_at(response, "retryable"), "never");
  EXPECT_EQ(text_at(response, "charge_state"), "charged") << "this obligation, by the first";
  EXPECT_EQ(runtime_.asked().size(), 1U);

  const std::string nobody = R"({"customer":"cust_2","period":"2026-08","amount_minor":4990,)"
                             R"("currency":"usd","payment_method":"pm_1"})";
  EXPECT_EQ(text_at(ask(post("k1", nobody)), "charge_state"), "none");
}

TEST_F(BillExchangeTest, key_reused_that_only_the_commit_notices_is_422) {
  replies(billing::CallerKeyReused{});
  EXPECT_EQ(ask(post("k1")).status, 422);
}

TEST_F(BillExchangeTest, repeat_that_only_the_commit_notices_is_a_replay) {
  replies(billing::Told{.row = sound_row(ObligationStatus::completed), .replayed = true});
  EXPECT_EQ(header_of(ask(post("k1")), "Idempotent-Replayed"), "true");
}

TEST_F(BillExchangeTest, key_without_a_row_is_left_to_the_entity) {
  EXPECT_EQ(ask(post("k1")).status, 200);
  store_.rows_.clear();
  EXPECT_EQ(ask(post("k1")).status, 200);
  EXPECT_EQ(runtime_.asked().size(), 2U);
}

TEST_F(BillExchangeTest, other_key_same_obligation_is_deduplicated) {
  replies(billing::Told{.row = sound_row(ObligationStatus::completed), .deduplicated = true});
  const auto response = ask(post("k2"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(text_at(response, "deduplicated"), "true");
  EXPECT_EQ(text_at(response, "request_id"), "first");
}

TEST_F(BillExchangeTest, conflicts_are_409_of_their_kind_with_what_is_recorded) {
  using Kind = billing::Conflict::Kind;
  const std::pair<Kind, std::string> kinds[] = {
      {Kind::amount, "urn:onceward:problem:obligation-conflict"},
      {Kind::provider_customer, "urn:onceward:problem:obligation-conflict"},
      {Kind::granularity, "urn:onceward:problem:period-granularity"},
      {Kind::period_not_begun, "urn:onceward:problem:period-not-begun"}};
  int n = 0;
  for (const auto& [kind, type] : kinds) {
    replies(billing::Conflict{kind, sound_row(ObligationStatus::completed), "detail"});
    const auto response = ask(post("k" + std::to_string(n++)));
    EXPECT_EQ(response.status, 409);
    EXPECT_EQ(text_at(response, "type"), type);
    EXPECT_EQ(text_at(response, "charge_state"), "charged");
    EXPECT_EQ(text_at(response, "amount_minor"), "4990");
    EXPECT_EQ(text_at(response, "obligation_status"), "completed");
  }
}

TEST_F(BillExchangeTest, refused_by_the_entity_is_400) {
  replies(billing::Refused{"no payment method"});
  const auto response = ask(post("k1"));
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(text_at(response, "detail"), "no payment method");
}

TEST_F(BillExchangeTest, uncertain_store_is_503_unknown_same_key) {
  replies(billing::TurnedDown{Turndown::uncertain});
  const auto response = ask(post("k1"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "charge_state"), "unknown");
  EXPECT_EQ(text_at(response, "retryable"), "same_key");
  EXPECT_EQ(text_at(response, "code"), "OW2007");
  EXPECT_EQ(header_of(response, "Retry-After"), "1");
}

TEST_F(BillExchangeTest, busy_says_none_only_with_proof) {
  replies(billing::TurnedDown{Turndown::busy});
  auto response = ask(post("k1"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "charge_state"), "none");
  EXPECT_EQ(text_at(response, "retryable"), "after");
  EXPECT_EQ(header_of(response, "Retry-After"), "1");

  store_.put(sound_row(ObligationStatus::in_progress));
  EXPECT_EQ(text_at(ask(post("k1")), "charge_state"), "pending");
  store_.put(sound_row(ObligationStatus::completed));
  EXPECT_EQ(text_at(ask(post("k1")), "charge_state"), "charged");
}

TEST_F(BillExchangeTest, busy_beside_a_command_under_way_does_not_claim_that_nothing_happens) {
  std::vector<test::FakeRuntime::Told> held;
  runtime_.on_ask = [&](const BillCustomer&, const test::FakeRuntime::Told& told) {
    if (held.empty()) {
      held.push_back(told);
    } else {
      told(billing::TurnedDown{Turndown::busy});
    }
  };
  Inbox first;
  api_->handle(post("k1"), first.answer());
  while (runtime_.asked().empty()) std::this_thread::yield();
  const auto response = ask(post("k2"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "charge_state"), "unknown");
  EXPECT_EQ(text_at(response, "retryable"), "same_key");
  held.front()(billing::TurnedDown{Turndown::uncertain});
  EXPECT_EQ(first.wait().status, 503);
  runtime_.on_ask = [](const BillCustomer&, const test::FakeRuntime::Told& told) {
    told(billing::TurnedDown{Turndown::busy});
  };
  EXPECT_EQ(text_at(ask(post("k3")), "charge_state"), "none");
}

TEST_F(BillExchangeTest, draining_refuses_before_anything_is_recorded) {
  draining_ = true;
  const auto response = ask(post("k1"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "code"), "OW1006");
  EXPECT_EQ(text_at(response, "charge_state"), "none");
  EXPECT_EQ(header_of(response, "Retry-After"), "1");
  EXPECT_TRUE(runtime_.asked().empty());
}

TEST_F(BillExchangeTest, store_that_cannot_be_read_is_503_unknown_and_asks_nobody) {
  store_.fail_with(Error{ErrorCode::store_io, "disk on fire"});
  auto response = ask(post("k1"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "charge_state"), "unknown");
  EXPECT_EQ(text_at(response, "retryable"), "same_key");
  store_.fail_with(Error{ErrorCode::store_uncertain, "barrier pending"});
  response = ask(post("k1"));
  EXPECT_EQ(text_at(response, "code"), "OW2007");
  draining_ = true;
  EXPECT_EQ(text_at(ask(post("k1")), "charge_state"), "unknown");
  EXPECT_TRUE(runtime_.asked().empty());
}

TEST_F(BillExchangeTest, quarantined_customer_is_told_by_what_is_recorded) {
  replies(billing::TurnedDown{Turndown::quarantined});
  store_.quarantine(CustomerId{"cust_1"});
  auto response = ask(post("k1"));
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(text_at(response, "code"), "OW3004");
  EXPECT_EQ(text_at(response, "charge_state"), "none");
  EXPECT_NE(text_at(response, "detail").find("chain broken"), std::string::npos);

  store_.put(sound_row(ObligationStatus::unknown));
  response = ask(post("k1"));
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(text_at(response, "charge_state"), "unknown");

  store_.put(sound_row(ObligationStatus::completed));
  response = ask(post("k1"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(text_at(response, "status"), "completed");
}

TEST_F(BillExchangeTest, row_of_another_amount_is_a_conflict_however_it_is_read) {
  auto row = sound_row(ObligationStatus::in_progress);
  row.amount.minor = 1;
  store_.put(row);
  runtime_.on_ask = [](const BillCustomer&, const test::FakeRuntime::Told&) {};
  const auto response = ask(post("k1", sound_body, "wait=0"));
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(text_at(response, "amount_minor"), "1");
}

TEST_F(BillExchangeTest, more_requests_than_allowed_are_busy) {
  start({.tokens = {}, .requests_max = 1});
  runtime_.on_ask = [](const BillCustomer&, const test::FakeRuntime::Told&) {};
  Inbox first;
  api_->handle(post("k1", sound_body, "wait=1"), first.answer());
  const auto response = ask(post("k2"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "code"), "OW1005");
  EXPECT_EQ(first.wait().status, 503);
}

TEST_F(BillExchangeTest, a_thousand_callers_with_one_key_ask_once) {
  std::vector<std::unique_ptr<Inbox>> inboxes;
  std::vector<std::thread> threads;
  for (int i = 0; i < 1000; ++i) inboxes.push_back(std::make_unique<Inbox>());
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < inboxes.size(); i += 4) {
        api_->handle(post("k1"), inboxes[i]->answer());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto& inbox : inboxes) {
    const auto status = inbox->wait().status;
    EXPECT_TRUE(status == 200 || status == 409) << status;
  }
  EXPECT_EQ(runtime_.asked().size(), 1U);
}

}  // namespace
}  // namespace onceward::ingress

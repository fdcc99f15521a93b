// The table of answers and the documents made from it.
#include <gtest/gtest.h>

#include <set>

#include "ingress/http/answers.hpp"

namespace onceward::ingress {
namespace {

namespace json = boost::json;

ObligationRow row_with(ObligationStatus status) {
  ObligationRow row;
  row.key = {CustomerId{"a/b:c"}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}};
  row.status = status;
  row.amount = {4990, *Currency::parse("usd")};
  row.attempt = 1;
  row.request_id = RequestId{"r1"};
  row.initiated_at = *parse_iso("2026-08-01T00:00:00Z");
  row.updated_at = *parse_iso("2026-08-01T00:00:01Z");
  return row;
}

std::string header(const platform::HttpResponse& response, std::string_view name) {
  return std::string(platform::find_header(response.headers, name).value_or("(absent)"));
}

json::object body_of(const platform::HttpResponse& response) {
  return json::parse(response.body).as_object();
}

struct Meaning {
  ObligationStatus status;
  int post;
  int exit;
  bool is_settled;
};

TEST(StatusTable, says_what_the_interface_promises) {
  using S = ObligationStatus;
  const std::vector<Meaning> promised = {
      {S::in_progress, 202, 4, false},    {S::processing, 202, 4, false},
      {S::action_required, 202, 5, true}, {S::unknown, 202, 5, false},
      {S::parked, 202, 5, true},          {S::rejected, 202, 5, true},
      {S::declined, 402, 1, true},        {S::capped, 403, 6, true},
      {S::completed, 200, 0, true},       {S::waived, 200, 0, true},
      {S::cancelled, 200, 1, true},       {S::uncollectible, 402, 1, true},
  };
  ASSERT_EQ(promised.size(), all_obligation_statuses.size());
  for (const auto& meaning : promised) {
    const auto& row = status_row(meaning.status);
    EXPECT_EQ(row.post_status, meaning.post) << to_text(meaning.status);
    EXPECT_EQ(static_cast<int>(row.bill_exit), meaning.exit) << to_text(meaning.status);
    EXPECT_EQ(row.settled == Settled::yes, meaning.is_settled) << to_text(meaning.status);
    // Only a completed obligation was certainly charged; what may have been is never "none".
    EXPECT_EQ(row.charge_state == ChargeState::charged, meaning.status == S::completed);
    if (meaning.status == S::unknown || meaning.status == S::parked) {
      EXPECT_EQ(row.charge_state, ChargeState::unknown);
    }
  }
}

TEST(ProblemTable, codes_and_slugs_are_unique_and_complete) {
  std::set<std::string_view> codes;
  std::set<std::string_view> slugs;
  for (const auto& row : problem_table()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_TRUE(slugs.insert(row.slug).second) << row.slug;
    EXPECT_EQ(row.code.size(), 6U);
    EXPECT_EQ(row.code.substr(0, 2), "OW");
    EXPECT_EQ(&problem_row(row.kind), &row);
  }
  EXPECT_EQ(problem_row(ProblemKind::spend_cap_exceeded).slug, "spend-cap-exceeded");
  EXPECT_EQ(problem_row(ProblemKind::obligation_conflict).slug, "obligation-conflict");
  EXPECT_EQ(problem_row(ProblemKind::period_granularity).slug, "period-granularity");
  EXPECT_EQ(problem_row(ProblemKind::period_not_begun).slug, "period-not-begun");
}

TEST(ProblemTable, exit_code_never_calls_an_unknown_charge_failed) {
  EXPECT_EQ(exit_of_problem({503, "OW1005", "none"}), ExitCode::unreachable);
  EXPECT_EQ(exit_of_problem({503, "OW1005", "unknown"}), ExitCode::unknown);
  EXPECT_EQ(exit_of_problem({503, "OW2007", "unknown"}), ExitCode::unknown);
  EXPECT_EQ(exit_of_problem({500, "", ""}), ExitCode::unknown);
  EXPECT_EQ(exit_of_problem({502, "", ""}), ExitCode::unknown);
  EXPECT_EQ(exit_of_problem({400, "OW1001", "none"}), ExitCode::usage);
  EXPECT_EQ(exit_of_problem({404, "", ""}), ExitCode::not_found);
  EXPECT_EQ(exit_of_problem({409, "OW6006", "none"}), ExitCode::conflict);
  EXPECT_EQ(exit_of_problem({418, "", ""}), ExitCode::failed);
}

TEST(ObligationJson, has_exactly_the_promised_members_in_order) {
  auto row = row_with(ObligationStatus::completed);
  row.charge_id = "ch_1";
  EXPECT_EQ(json::serialize(obligation_json({.row = row, .deduplicated = true})),
            "{\"customer\":\"a/b:c\",\"period\":\"2026-08\",\"purpose\":\"subscription\","
            "\"status\":\"completed\",\"amount_minor\":4990,\"currency\":\"usd\","
            "\"charge_id\":\"ch_1\",\"attempt\":1,\"request_id\":\"r1\","
            "\"initiated_at\":\"2026-08-01T00:00:00.000Z\","
            "\"updated_at\":\"2026-08-01T00:00:01.000Z\",\"decline_code\":null,"
            "\"next_attempt_at\":null,\"reason\":null,\"deduplicated\":true}");
}

TEST(PostAnswer, open_statuses_say_where_and_when_to_look) {
  for (const auto status : all_obligation_statuses) {
    const auto response = post_answer({.row = row_with(status)});
    EXPECT_EQ(response.status, status_row(status).post_status);
    if (response.status == 202) {
      EXPECT_EQ(header(response, "Location"), "/v1/billing/a%2Fb%3Ac/2026-08");
      EXPECT_NE(header(response, "Retry-After"), "(absent)");
    } else {
      EXPECT_EQ(header(response, "Location"), "(absent)");
    }
    if (response.status < 400) {
      EXPECT_EQ(header(response, "Content-Type"), "application/json");
      EXPECT_EQ(body_of(response).at("status").as_string(), to_text(status));
    }
  }
}

TEST(PostAnswer, location_names_a_purpose_that_is_not_the_default) {
  auto row = row_with(ObligationStatus::in_progress);
  row.key.purpose = Purpose{"addon"};
  EXPECT_EQ(header(post_answer({.row = row}), "Location"),
            "/v1/billing/a%2Fb%3Ac/2026-08?purpose=addon");
}

TEST(PostAnswer, declined_is_a_problem_with_the_obligations_members) {
  auto row = row_with(ObligationStatus::declined);
  row.decline_code = "insufficient_funds";
  row.next_attempt_at = *parse_iso("2026-08-03T00:00:00Z");
  const auto response = post_answer({.row = row});
  EXPECT_EQ(response.status, 402);
  EXPECT_EQ(header(response, "Content-Type"), "application/problem+json");
  const auto body = body_of(response);
  EXPECT_EQ(body.at("status").as_int64(), 402);
  EXPECT_EQ(body.at("obligation_status").as_string(), "declined");
  EXPECT_EQ(body.at("decline_code").as_string(), "insufficient_funds");
  EXPECT_EQ(body.at("next_attempt_at").as_string(), "2026-08-03T00:00:00.000Z");
  EXPECT_EQ(body.at("charge_state").as_string(), "none");
  EXPECT_EQ(body.at("retryable").as_string(), "never");
  EXPECT_EQ(body.at("code").as_string(), "OW6001");
  EXPECT_EQ(body.at("customer").as_string(), "a/b:c");
}

TEST(PostAnswer, spend_cap_is_403_and_says_so) {
  const auto response = post_answer({.row = row_with(ObligationStatus::capped)});
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(body_of(response).at("type").as_string(), "urn:onceward:problem:spend-cap-exceeded");
}

TEST(Problem, an_unknown_charge_is_always_to_be_repeated_with_the_same_key) {
  Problem problem;
  problem.kind = ProblemKind::busy;
  problem.charge_state = ChargeState::unknown;
  EXPECT_EQ(body_of(problem_answer(problem)).at("retryable").as_string(), "same_key");
  problem.charge_state = ChargeState::none;
  EXPECT_EQ(body_of(problem_answer(problem)).at("retryable").as_string(), "after");
}

TEST(Csv, fields_that_spreadsheets_would_run_or_split_are_made_harmless) {
  auto row = row_with(ObligationStatus::declined);
  row.key.customer = CustomerId{"=cmd(\"x\",1)"};
  row.reason = "line\nbreak";
  const auto line = obligation_csv_line(row);
  EXPECT_EQ(line.rfind("\"'=cmd(\"\"x\"\",1)\",2026-08,subscription,declined,4990,usd,", 0), 0U)
      << line;
  EXPECT_NE(line.find("\"line\nbreak\""), std::string::npos);
  EXPECT_EQ(line.substr(line.size() - 2), "\r\n");
}

TEST(StatusTable, refund_verb_exits_by_what_is_known_of_the_money) {
  for (const auto status : all_refund_statuses) {
    const auto exit = refund_exit(status);
    EXPECT_EQ(exit == ExitCode::ok, status == RefundStatus::succeeded) << to_text(status);
    EXPECT_EQ(exit == ExitCode::failed, status == RefundStatus::failed) << to_text(status);
  }
  EXPECT_EQ(refund_exit(RefundStatus::pending), ExitCode::conflict);
  EXPECT_EQ(refund_exit(RefundStatus::unknown), ExitCode::unknown);
  EXPECT_EQ(refund_exit(RefundStatus::parked), ExitCode::unknown);
}

}  // namespace
}  // namespace onceward::ingress

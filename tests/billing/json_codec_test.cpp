// The stored form of every billing event is pinned by tests/golden/events/v1.txt: what a released
// version wrote must be readable for ever, and writing must not change unnoticed.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include <onceward/billing/billing_events.hpp>

namespace onceward::billing {
namespace {

PeriodPurpose of() {
  return {*BillingPeriod::parse("2026-08"), Purpose{"subscription"}};
}
constexpr Timestamp at{1'788'220'800'123};
constexpr Timestamp later{1'788'221'400'000};

// One of each, with every member away from its default and text that needs escaping.
std::vector<BillingEvent> samples() {
  const SentAt sent{at, 5'000'000, 18'446'744'073'709'551'615ULL, later};
  SentAt sent_blind = sent;
  sent_blind.provider.reset();
  return {
      BillingInitiated{of(), at, Money{4990, *Currency::parse("usd")}, PaymentMethod{"pm_1"},
                       ProviderCustomer{"cus_9"}, RequestId{"req \"1\"\\"},
                       Metadata{{"plan", "gold\n\x01"}, {"name", "Zo\xc3\xab"}}, later},
      RequestStarted{of(), at, Step::confirm, 2, 3, IdempotencyKey{"k1"}, "pi_1",
                     PaymentMethod{"pm_2"}, sent, 5'080'000, later},
      RequestStarted{of(), at, Step::charge, 1, 0, IdempotencyKey{"k2"}, "", PaymentMethod{"pm_2"},
                     sent_blind, 5'080'000, later},
      LookUpOwed{of(), at, "webhook", later},
      CancelRequested{of(), at, "ann", "duplicate plan"},
      PaymentIntentCreated{of(), at, "pi_1"},
      PaymentIntentCanceled{of(), at, "pi_1", later},
      AttemptDeclined{of(), at, 1, "card_declined", "insufficient_funds", "ch_1", "pi_1", later},
      RequestRejected{of(), at, IdempotencyKey{"k1"}, "rate_limited", "rate_limit", "slow down",
                      later},
      RequestRejected{of(), at, IdempotencyKey{"k1"}, "invalid_request", "parameter_invalid", "",
                      std::nullopt},
      OutcomeUnknown{of(), at, IdempotencyKey{"k1"}, "broken", "28", LookedUp::unpaid_same, later},
      BillingPending{of(), at, BillingPending::Kind::action_required, "pi_1", later},
      BillingCompleted{of(), at, "ch_1", "pi_1", 2, "money_taken_late"},
      BillingUncollectible{of(), at, "dunning_exhausted"},
      BillingParked{of(), at, "outcome_unknown"},
      BillingCapped{of(), at, 100'000, 99'000},
      BillingCancelled{of(), at, "by operator"},
      PeriodWaived{of(), at, "no_charge_due"},
      OperatorActed{of(), at, "retry", "ann", "card replaced", later},
      EarlierSystemChecked{of(), at, 3},
      LookUpAnswered{of(), at, "succeeded", later},
      OutcomeUnknown{of(), at, IdempotencyKey{"k1"}, "server_error", "500", LookedUp::failed,
                     later},
      OutcomeUnknown{of(), at, IdempotencyKey{"k1"}, "unpaid", "", LookedUp::too_early, later},
      RefundRequested{of(), at, 2, Money{990, *Currency::parse("usd")}, RequestId{"r1"}, "f1",
                      "ann", "double plan", later},
      RefundPending{of(), at, 2, "re_1", later},
      RefundCompleted{of(), at, 2, "re_1", "adopted_from_outside"},
      RefundFailed{of(), at, 2, "re_1", "lost_or_stolen_card", "closed"},
      RefundParked{of(), at, 2, "outcome_unknown"},
      RefundLookUpOwed{of(), at, "webhook charge.refunded evt_1", later},
      RefundsListed{of(), at, 3},
      OutsideRefundFound{of(), at, "re_9", 500},
      ObjectHinted{of(), at, "webhook payment_intent.succeeded evt_1", HintedKind::payment_intent,
                   "pi_9", later},
      HintedObjectRead{of(), at, "pi_9", "succeeded"},
      UnexpectedPaymentFound{of(), at, "duplicate_payment", "ch_9", "pi_9", 4990, "usd"},
      DisputeRecorded{of(), at, "dp_1", "ch_1", "charge.dispute.created"},
      AlarmAcknowledged{of(), at, "ann", "paid back by hand"},
      OperatorResolved{of(), at, "paid_by_charge", "ch_7", "ann", "seen at the provider", later},
      PaymentMethodChanged{of(), at, PaymentMethod{"pm_3"}, "ann", "new card", later},
      BillingPaidOutside{of(), at, "bank transfer 7"},
      DunningPlanned{of(), at, DunningPlan::try_again, "unlisted_decline_code", later},
      DunningPlanned{of(), at, DunningPlan::wait_for_method, "payment_method_needed", later},
      DunningPlanned{of(), at, DunningPlan::give_up, "dunning_exhausted", later},
      FoundStillOwed{of(), at, "requires_payment_method", "ch_3"},
  };
}

std::string line_of(const BillingEvent& event) {
  const EncodedEvent encoded = billing_event_codec().encode(event);
  return encoded.manifest.name + "/" + std::to_string(encoded.manifest.version) + " " +
         encoded.payload;
}

std::vector<std::string> golden() {
  std::ifstream file(ONCEWARD_GOLDEN_DIR "/events/v1.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(BillingEventCodec, WritesExactlyTheGoldenForm) {
  const auto lines = golden();
  const auto events = samples();
  std::string all;
  for (const auto& event : events) all += line_of(event) + "\n";
  ASSERT_EQ(lines.size(), events.size()) << all;
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(line_of(events[i]), lines[i]);
}

TEST(BillingEventCodec, ReadsTheGoldenFormBack) {
  const auto events = samples();
  const auto lines = golden();
  ASSERT_EQ(lines.size(), events.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto slash = lines[i].find('/');
    const auto blank = lines[i].find(' ');
    EncodedEvent encoded{
        {lines[i].substr(0, slash),
         static_cast<std::uint32_t>(std::stoul(lines[i].substr(slash + 1, blank - slash - 1)))},
        lines[i].substr(blank + 1)};
    const auto decoded = billing_event_codec().decode(encoded);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().context;
    EXPECT_EQ(*decoded, events[i]);
  }
}

TEST(BillingEventCodec, EveryKindOfEventHasASample) {
  std::set<std::size_t> kinds;
  for (const auto& event : samples()) kinds.insert(event.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<BillingEvent>);
}

TEST(BillingEventCodec, RefusesUnknownNamesAndVersions) {
  EncodedEvent encoded = billing_event_codec().encode(samples()[0]);
  encoded.manifest.version = 2;
  EXPECT_EQ(billing_event_codec().decode(encoded).error().code, ErrorCode::unknown_manifest);
  encoded.manifest = {"BillingForgotten", 1};
  EXPECT_EQ(billing_event_codec().decode(encoded).error().code, ErrorCode::unknown_manifest);
}

// Never default a missing member: a guard that vanishes bills again.
TEST(BillingEventCodec, RefusesEachMissingMember) {
  for (const auto& event : samples()) {
    const EncodedEvent whole = billing_event_codec().encode(event);
    int members = 0;
    for (std::size_t from = whole.payload.find('"'); from != std::string::npos;) {
      const std::size_t end = whole.payload.find("\":", from);
      if (end == std::string::npos) break;
      EncodedEvent renamed = whole;
      renamed.payload[from + 1] = '~';
      const auto decoded = billing_event_codec().decode(renamed);
      // Names of the caller's own metadata are free; all others are required.
      const std::string before = whole.payload.substr(0, from);
      const auto metadata = before.rfind("\"metadata\":{");
      const bool free = metadata != std::string::npos && before.find('}', metadata) == before.npos;
      EXPECT_EQ(decoded.has_value(), free) << renamed.payload;
      ++members;
      // To the next member name: a quote that follows '{' or ','.
      from = whole.payload.find('"', end + 2);
      while (from != std::string::npos && whole.payload[from - 1] != ',' &&
             whole.payload[from - 1] != '{') {
        from = whole.payload.find('"', from + 1);
      }
    }
    EXPECT_GE(members, 4);
  }
}

TEST(BillingEventCodec, RefusesWrongTypesAndBrokenText) {
  const EncodedEvent whole = billing_event_codec().encode(samples()[3]);
  for (const char* text : {"", "[]", "null", "{", "{}", "\"x\"", "{\"period\":1}"}) {
    EncodedEvent broken = whole;
    broken.payload = text;
    EXPECT_FALSE(billing_event_codec().decode(broken).has_value()) << text;
  }
  EncodedEvent number_as_text = whole;
  const auto where = number_as_text.payload.find("\"at\":") + 5;
  number_as_text.payload.insert(where, "\"");
  number_as_text.payload.insert(number_as_text.payload.find(',', where), "\"");
  EXPECT_EQ(billing_event_codec().decode(number_as_text).error().code, ErrorCode::decode_failed);
}

}  // namespace
}  // namespace onceward::billing

// Every schedule, up to a stated bound, of refunds and webhooks on a charged obligation: crash at
// every durable step, send, answer and reply, with provider faults and ambiguous commits. Money is
// given back at most once per refund, and a webhook that was answered is never lost.
#include <gtest/gtest.h>

#include "tests/support/aftermath_world.hpp"

namespace onceward::testing {
namespace {

billing::BillingPolicy policy(billing::Flow flow = billing::Flow::payment_intents) {
  billing::BillingPolicy p;
  p.ns = Namespace{"acme-billing"};
  p.account = AccountLabel{"default"};
  p.flow = flow;
  return p;
}

struct Tally {
  long schedules = 0;
  long given_back = 0;  // schedules whose refunds all succeeded
  std::string broken;   // of the first schedule that does not hold
};

Tally enumerate(const AftermathOptions& options) {
  Tally tally;
  Odometer chooser;
  do {
    AftermathWorld world(options, chooser);
    world.run();
    tally.broken = world.verdict();
    if (!tally.broken.empty()) {
      tally.broken += " (schedule " + chooser.schedule() + ")";
      return tally;
    }
    ++tally.schedules;
    bool all = true;
    for (const auto& row : world.refunds()) all = all && row.status == RefundStatus::succeeded;
    tally.given_back += all ? 1 : 0;
  } while (chooser.next());
  std::printf("  %ld of %ld schedules hold, %ld with everything given back\n", tally.schedules,
              tally.schedules, tally.given_back);
  return tally;
}

AftermathOptions refunds(std::vector<std::int64_t> amounts) {
  AftermathOptions options;
  options.policy = policy();
  options.refunds = std::move(amounts);
  return options;
}

TEST(AftermathCrashes, UpToTwoOfThemGiveEachRefundBackOnce) {
  const Tally tally = enumerate(refunds({1000, 3990}));
  EXPECT_EQ(tally.broken, "");
  EXPECT_GT(tally.schedules, 30);
  // A crash alone leaves the outcome decidable within the key's life: nobody needs an operator.
  EXPECT_EQ(tally.given_back, tally.schedules);
}

TEST(AftermathCrashes, WithProviderFaultsNeverGiveMoreBackThanWasAsked) {
  AftermathOptions options = refunds({4990});
  options.crashes = 1;
  options.faults = 2;
  options.fates = {Fate::lost_before, Fate::lost_after, Fate::saved_500, Fate::failed_500,
                   Fate::limited,     Fate::invalid,    Fate::resent,    Fate::gateway_after};
  const Tally tally = enumerate(options);
  EXPECT_EQ(tally.broken, "");
  EXPECT_GT(tally.schedules, 100);
  EXPECT_GT(tally.given_back, 0);
}

TEST(AftermathCrashes, WithDowntimeBeyondTheKeysLifeNeverGiveBackTwice) {
  AftermathOptions options = refunds({1000, 1000});
  options.downtime = std::chrono::hours{25};
  const Tally tally = enumerate(options);
  EXPECT_EQ(tally.broken, "");
  EXPECT_LT(tally.given_back, tally.schedules);  // absence is no proof: some wait for a person
}

TEST(AftermathCrashes, WithAmbiguousCommitsGiveEachRefundBackOnce) {
  AftermathOptions options = refunds({1000, 3990});
  options.policy = policy(billing::Flow::charges);
  options.crashes = 1;
  options.ambiguities = 1;
  const Tally tally = enumerate(options);
  EXPECT_EQ(tally.broken, "");
  EXPECT_EQ(tally.given_back, tally.schedules);
}

AftermathOptions webhooks() {
  AftermathOptions options;
  options.policy = policy();
  options.paid_elsewhere = true;
  return options;
}

TEST(AftermathCrashes, UpToTwoOfThemLoseNoWebhookThatWasAnswered) {
  const Tally tally = enumerate(webhooks());
  EXPECT_EQ(tally.broken, "");
  EXPECT_GT(tally.schedules, 30);
}

TEST(AftermathCrashes, AndAmbiguousCommitsLoseNoWebhookThatWasAnswered) {
  AftermathOptions options = webhooks();
  options.crashes = 1;
  options.ambiguities = 1;
  options.refunds = {4990};
  const Tally tally = enumerate(options);
  EXPECT_EQ(tally.broken, "");
}

// The billing entity with one guard broken: the mark of a hint is stored first, what it makes owed
// afterwards. A crash between the two swallows the redelivery.
class MarkBeforeEffect {
 public:
  using State = billing::BillingState;
  using Event = billing::BillingEvent;
  using Command = billing::BillingCommand;
  using Reply = billing::BillingReply;
  using Decided = billing::BillingEntity::Decided;

  explicit MarkBeforeEffect(const billing::BillingPolicy& policy) : entity_(policy) {}

  [[nodiscard]] State initial(const PersistenceId& id) const {
    pending_->reset();  // a new process remembers nothing
    return entity_.initial(id);
  }
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const {
    Decided decided = entity_.decide(state, command, context);
    const auto* hint = std::get_if<billing::ProviderHint>(&command);
    if (hint == nullptr || decided.marks.empty()) return decided;
    *pending_ = *hint;
    Decided mark_only;
    mark_only.marks = std::move(decided.marks);
    mark_only.reply = std::move(decided.reply);
    mark_only.wants_permit = true;  // so that it is asked what is owed
    return mark_only;
  }
  [[nodiscard]] Decided resume(const State& state, const Context& context) const {
    if (!*pending_) return entity_.resume(state, context);
    Decided effect = entity_.decide(state, Command{**pending_}, context);
    pending_->reset();
    effect.marks.clear();
    effect.reply.reset();
    return effect;
  }
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const {
    return entity_.decide_answer(state, answer, context);
  }
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const {
    return entity_.evolve(state, event);
  }
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const {
    return entity_.answer_waiter(state, command);
  }
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const {
    return entity_.turn_down(command, why);
  }

 private:
  billing::BillingEntity entity_;
  std::shared_ptr<std::optional<billing::ProviderHint>> pending_ =
      std::make_shared<std::optional<billing::ProviderHint>>();
};

TEST(AftermathCrashes, CatchAMarkThatIsStoredApartFromItsEffect) {
  AftermathOptions options = webhooks();
  options.twin = false;  // it would bring what the first one lost
  options.crashes = 0;
  options.type = make_entity_type<MarkBeforeEffect>(
      "mutant", std::make_shared<const MarkBeforeEffect>(options.policy),
      billing::billing_event_codec());
  EXPECT_EQ(enumerate(options).broken, "") << "without a crash even the mutant is right";
  options.crashes = 1;
  const std::string broken = enumerate(options).broken;
  EXPECT_NE(broken.find("its payment is not recorded"), std::string::npos) << broken;
}

}  // namespace
}  // namespace onceward::testing

// Whole bill runs against a provider that misbehaves: every kind of fault at once with kills in
// between, and a run of which one confirm in twenty has no usable answer.
//
// ONCEWARD_LONG=1 runs 200 seeds of each flow with 200 customers each, and 5,000 customers in the
// other; ONCEWARD_SEED=n that seed alone, at that size.
#include <cstdio>
#include <cstdlib>

#include "tests/cases/chaos_run.hpp"

namespace onceward::cases {
namespace {

/// POSTs of one obligation with all its steps, tries and refunds, in six hours of chaos and two
/// days of health.
constexpr int posts_bound = 60;

bool is_long() {
  return std::getenv("ONCEWARD_LONG") != nullptr;
}

void run_seeds(Flow flow) {
  const char* seed_text = std::getenv("ONCEWARD_SEED");
  const bool is_whole = is_long() || seed_text != nullptr;
  std::uint64_t first = 1;
  std::uint64_t last = is_whole ? 200 : 3;
  if (seed_text != nullptr) first = last = std::strtoull(seed_text, nullptr, 10);
  ChaosRun::Figures all;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ChaosOptions options;
    options.seed = seed;
    options.flow = flow;
    options.customers = is_whole ? 200 : 40;
    ChaosRun run(options);
    run.run();
    EXPECT_EQ(run.verdict(), "") << "ONCEWARD_SEED=" << seed;
    EXPECT_LE(run.figures().posts_most, posts_bound) << "ONCEWARD_SEED=" << seed;
    EXPECT_GT(run.figures().kills, 5);
    all.add(run.figures());
  }
  std::printf("  %s\n", all.text().c_str());
}

TEST(Chaos, TwoSteps) {
  run_seeds(Flow::payment_intents);
}
TEST(Chaos, OneStep) {
  run_seeds(Flow::payment_intents_one_step);
}
TEST(Chaos, Charges) {
  run_seeds(Flow::charges);
}

// One confirm in twenty is lost, answered 500 with or without the money, or never answered; all
// are settled within an hour of the first bill, by nobody's hand.
TEST(Chaos, LostConfirmsSettleWithinAnHour) {
  const int customers = is_long() ? 5'000 : 500;
  CaseWorld world(CaseWorld::options(Flow::payment_intents));
  std::vector<std::string> rules;
  for (const char* kind :
       {R"("kind":"commit_drop")", R"("kind":"commit_500")", R"("kind":"fail_500")",
        R"("kind":"hang")", R"("kind":"hang","commit":true)"}) {
    rules.push_back(std::string(kind) +
                    R"(,"match":{"path":"/v1/payment_intents/*/confirm"},"probability":0.0101)");
  }
  world.faults(rules);
  const Timestamp start = world.now();
  // As fast as the default rate of the provider's client lets them out.
  for (int nr = 0; nr < customers; ++nr) {
    world.at(start.plus(nr * 50ms),
             [&world, nr] { (void)world.bill("cus_" + std::to_string(nr), "2026-08"); });
  }
  Timestamp settled_at;
  const auto settled = [&world] {
    journal::RowQuery query;
    query.period = *BillingPeriod::parse("2026-08");
    query.status = Status::completed;
    query.limit = 1'000'000;
    const auto rows = world.reader()->rows(query);
    ONCEWARD_CHECK(rows.has_value(), "the rows can be read");
    return static_cast<int>(rows->size());
  };
  while (world.now() < start.plus(1h) && settled() < customers) {
    world.run_for(1min);
    settled_at = world.now();
  }
  EXPECT_EQ(settled(), customers);
  EXPECT_EQ(world.port().provider().ledger().rows().size(), static_cast<std::size_t>(customers));
  int faulty = 0;
  int most = 0;
  for (const auto& sent : world.port().provider().trace()) faulty += sent.faults.empty() ? 0 : 1;
  for (const auto& [key, posts] : world.posts_by_obligation()) most = std::max(most, posts);
  std::printf("  %d settled %lld min after the first bill; %d faulty confirms; at most %d POSTs\n",
              settled(), static_cast<long long>((settled_at.ms - start.ms) / 60'000), faulty, most);
  EXPECT_GT(faulty, customers / 25);
  EXPECT_EQ(world.audit(), "");
}

}  // namespace
}  // namespace onceward::cases

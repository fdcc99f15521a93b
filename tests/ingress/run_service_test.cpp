// Runs through the service on a real store and runtime: plan, start, restart, steer, report.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <boost/json.hpp>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/ingress/run_json.hpp>
#include <onceward/journal/sqlite_journal.hpp>

#include "tests/ingress/threaded_provider.hpp"

namespace onceward::ingress {
namespace {

using billing::RunStatus;
using testing::ThreadedProvider;

const std::string header = "customer,amount_minor,currency,payment_method,purpose\n";

/// `n` customers of 10.00 usd each.
std::string customers(int n, const std::string& amount = "1000") {
  std::string csv = header;
  for (int i = 1; i <= n; ++i) csv += "c" + std::to_string(i) + "," + amount + ",usd,pm_visa,\n";
  return csv;
}

BillingPeriod period() {
  return BillingPeriod::parse("2026-08").value();
}

class RunServiceTest : public ::testing::Test {
 protected:
  RunServiceTest() {
    std::string name = std::filesystem::temp_directory_path() / "onceward_runs_XXXXXX";
    folder_ = mkdtemp(name.data());
    options_.customers_path = folder_ / "customers.csv";
    options_.tick = std::chrono::milliseconds(20);
    options_.scheduler.window = 8;
    options_.scheduler.allow_future = true;
  }
  ~RunServiceTest() override {
    stop();
    std::filesystem::remove_all(folder_);
  }
  void SetUp() override { start(); }

  void open() {
    clock_ = platform::SystemClock::open([this] { return provider_.provider_now(); }).value();
    journal::SqliteJournalOptions store;
    store.path = folder_ / "billing.db";
    store.identity.ns = Namespace{"test"};
    store.identity.account = AccountLabel{"default"};
    store.identity.shards = 1;
    auto journal = journal::SqliteJournal::open(store);
    ASSERT_TRUE(journal) << journal.error().context;
    journal_ = std::move(*journal);
    auto runs = RunService::create(options_,
                                   {*journal_, [this] { return journal_->plan_store(); }, *clock_});
    ASSERT_TRUE(runs) << runs.error().context;
    runs_ = std::move(*runs);
  }
  void start() {
    open();
    billing::BillingPolicy policy;
    policy.ns = Namespace{"test"};
    policy.account = AccountLabel{"default"};
    policy.allow_future = true;
    auto runtime = actors::Runtime::start(
        {}, *journal_, provider_, *clock_,
        {{"customer/", billing::billing_entity_type(policy), {}, {}}, runs_->binding()});
    ASSERT_TRUE(runtime) << runtime.error().context;
    runtime_ = std::move(*runtime);
    runs_->attach(*runtime_);
  }
  void stop() {
    if (runs_) runs_->stop();
    if (runtime_) runtime_->drain(0);
    runtime_.reset();
    runs_.reset();
    journal_.reset();
  }

  void write_file(const std::string& text) {
    std::ofstream(folder_ / "customers.csv", std::ios::binary) << text;
  }
  journal::PlanSummary plan(const std::string& csv) {
    auto planned = runs_->plan(csv, period(), "upload.csv");
    EXPECT_TRUE(planned) << planned.error().context;
    return planned ? *planned : journal::PlanSummary{};
  }
  std::string begin(const std::string& csv) {
    const auto told = runs_->start(period(), plan(csv).hash, "jane");
    EXPECT_TRUE(told) << told.error().context;
    return told ? told->run.id.value() : "";
  }
  RunShown shown(const std::string& run) {
    auto shown = runs_->show(run);
    EXPECT_TRUE(shown) << shown.error().context;
    return shown ? *shown : RunShown{};
  }
  bool eventually(const std::function<bool()>& is_so) {
    for (int i = 0; i < 3'000; ++i) {
      if (is_so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool ends(const std::string& run) {
    return eventually([&] { return shown(run).run.status == RunStatus::completed; });
  }
  std::pair<ReportSummary, std::vector<ReportLine>> report(const std::string& run) {
    std::vector<ReportLine> lines;
    auto summary = runs_->report(run, [&lines](const ReportLine& line) {
      lines.push_back(line);
      return true;
    });
    EXPECT_TRUE(summary) << summary.error().context;
    return {summary ? *summary : ReportSummary{}, lines};
  }
  std::map<std::string, std::int64_t> limits() {
    std::map<std::string, std::int64_t> limits;
    const auto uses = journal_->reader().value()->cap_use(period());
    for (const auto& use : uses.value()) {
      if (use.customer.value().empty() && use.limit_minor) {
        limits[std::string(use.currency.text())] = *use.limit_minor;
      }
    }
    return limits;
  }
  void bill(const std::string& customer, std::int64_t minor) {
    billing::BillCustomer bill;
    bill.key = {CustomerId{customer}, period(), Purpose{"subscription"}};
    bill.amount = {minor, Currency::parse("usd").value()};
    bill.payment_method = PaymentMethod{"pm_visa"};
    bill.provider_customer = ProviderCustomer{customer};
    bill.request_id = RequestId{"by_hand"};
    std::atomic<bool> is_told{false};
    runtime_->ask(customer_persistence_id(bill.key.customer),
                  std::any(billing::BillingCommand{bill}),
                  [&](const std::any&) { is_told = true; });
    EXPECT_TRUE(eventually([&] { return is_told.load(); }));
  }
  void expect_one_charge_each(std::size_t n) {
    const auto charges = provider_.charges();
    EXPECT_EQ(charges.size(), n);
    for (const auto& [who, count] : charges) EXPECT_EQ(count, 1) << who;
  }

  std::filesystem::path folder_;
  RunServiceOptions options_;
  ThreadedProvider provider_;
  std::unique_ptr<platform::SystemClock> clock_;
  std::unique_ptr<journal::SqliteJournal> journal_;
  std::unique_ptr<RunService> runs_;
  std::unique_ptr<actors::Runtime> runtime_;
};

TEST_F(RunServiceTest, PlansWithoutStartingAnything) {
  const auto summary =
      plan(header + "a,4990,usd,pm_1,\nb,500,jpy,pm_1,\na,10,usd,pm_1,seats\n" + "c,1,usd,,\n");
  EXPECT_EQ(boost::json::parse(plan_json(summary)).as_object().at("totals"),
            boost::json::parse(R"([{"currency":"jpy","amount_minor":500},
                                   {"currency":"usd","amount_minor":5000}])"));
  EXPECT_EQ(summary.customers, 4U);
  EXPECT_EQ(summary.to_bill, 3U);
  EXPECT_EQ(summary.skipped.at("no_payment_method"), 1U);
  EXPECT_EQ(runs_->find_plan(summary.hash.substr(0, 8)).value(), summary);
  EXPECT_TRUE(runs_->list().value().empty());
  EXPECT_EQ(provider_.charged(), 0U);
}

TEST_F(RunServiceTest, BillsEverybodyOnceAndReportsThemByName) {
  const std::string run = begin(customers(200) + "no_method,1000,usd,,\n");
  ASSERT_TRUE(ends(run));
  expect_one_charge_each(200);
  const auto view = shown(run);
  EXPECT_EQ(view.run.cursor, 201U);
  EXPECT_EQ(view.run.started_by, "jane");
  EXPECT_EQ(view.tally.by_status.at(ObligationStatus::completed), 200U);
  EXPECT_EQ(view.tally.skipped, 1U);
  const auto [summary, lines] = report(run);
  ASSERT_EQ(lines.size(), 201U);
  EXPECT_EQ(lines[0].row.customer.value(), "c1");
  EXPECT_EQ(lines[0].outcome, "completed");
  EXPECT_NE(lines[0].charge_id, "");
  EXPECT_EQ(lines[200].outcome, "not_billable");
  EXPECT_EQ(lines[200].reason, "no_payment_method");
  EXPECT_EQ(summary.by_outcome,
            (std::map<std::string, std::uint64_t>{{"completed", 200}, {"not_billable", 1}}));
}

TEST_F(RunServiceTest, StartsAPlanOnce) {
  const auto hash = plan(customers(20)).hash;
  const auto first = runs_->start(period(), hash, "jane").value();
  EXPECT_FALSE(first.existed);
  EXPECT_TRUE(runs_->start(period(), hash.substr(0, 8), "joe").value().existed);
  ASSERT_TRUE(ends(first.run.id.value()));
  EXPECT_TRUE(runs_->start(period(), hash, "joe").value().existed);
  EXPECT_EQ(runs_->list().value().size(), 1U);
  expect_one_charge_each(20);
}

TEST_F(RunServiceTest, BillsThePlanAndNotWhatTheFileSaysLater) {
  write_file(customers(5, "1000"));
  const auto approved = runs_->plan_configured(period()).value();
  write_file(customers(9, "9999"));
  const auto told = runs_->start(period(), approved.hash, "jane").value();
  ASSERT_TRUE(ends(told.run.id.value()));
  EXPECT_EQ(provider_.charged(), 5U);
  EXPECT_EQ(provider_.charged_minor(), 5'000);
  EXPECT_NE(runs_->plan_configured(period()).value().hash, approved.hash);
}

TEST_F(RunServiceTest, GoesOnByItselfAfterARestart) {
  provider_.hold();
  const std::string run = begin(customers(100));
  provider_.let_go(60);
  ASSERT_TRUE(eventually([this] { return provider_.charged() >= 25; }));
  stop();
  provider_.let_go();
  start();
  ASSERT_TRUE(ends(run));
  expect_one_charge_each(100);
  EXPECT_EQ(report(run).first.by_outcome.at("completed"), 100U);
}

TEST_F(RunServiceTest, PausesOverARestartUntilItIsResumed) {
  provider_.hold();
  const std::string run = begin(customers(60));
  ASSERT_TRUE(eventually([&] { return shown(run).run.in_progress == 8; }));
  const auto paused = runs_->pause(run.substr(0, 10), {"jane", "wrong prices"});
  ASSERT_TRUE(paused) << paused.error().context;
  EXPECT_EQ(paused->run.why, "wrong prices");
  provider_.let_go();
  stop();
  start();
  ASSERT_TRUE(
      eventually([&] { return shown(run).tally.by_status[ObligationStatus::in_progress] == 0; }));
  EXPECT_LE(provider_.charged(), options_.scheduler.window);
  EXPECT_EQ(shown(run).run.status, RunStatus::paused);
  EXPECT_GT(report(run).first.by_outcome.at("not_asked"), 0U);
  ASSERT_TRUE(runs_->resume(run, {"jane", "right prices"}));
  ASSERT_TRUE(ends(run));
  expect_one_charge_each(60);
}

TEST_F(RunServiceTest, CancelLeavesTheRestUnbilledAndSaysSo) {
  provider_.hold();
  const std::string run = begin(customers(60));
  ASSERT_TRUE(eventually([&] { return shown(run).run.in_progress == 8; }));
  ASSERT_TRUE(runs_->cancel(run, {"jane", "wrong month"}));
  provider_.let_go();
  ASSERT_TRUE(
      eventually([&] { return shown(run).tally.by_status[ObligationStatus::in_progress] == 0; }));
  const auto [summary, lines] = report(run);
  EXPECT_EQ(summary.run.status, RunStatus::cancelled);
  EXPECT_EQ(lines.size(), 60U);
  EXPECT_EQ(summary.by_outcome.at("not_asked") + provider_.charged(), 60U);
  EXPECT_EQ(runs_->pause(run, {"jane", ""}).error().code, ErrorCode::conflict);
}

TEST_F(RunServiceTest, ReportsAConflictBesideWhatIsRecorded) {
  bill("c2", 777);
  bill("c3", 1000);
  const std::string run = begin(customers(4));
  ASSERT_TRUE(ends(run));
  const auto [summary, lines] = report(run);
  EXPECT_EQ(summary.by_outcome,
            (std::map<std::string, std::uint64_t>{{"completed", 3}, {"conflict", 1}}));
  EXPECT_EQ(lines[1].outcome, "conflict");
  ASSERT_TRUE(lines[1].recorded);
  EXPECT_EQ(lines[1].recorded->minor, 777);
  EXPECT_EQ(lines[2].recorded, std::nullopt);
  EXPECT_EQ(shown(run).run.outcomes.at(billing::RunOutcome::conflict), 1U);
  expect_one_charge_each(4);
  const auto json = boost::json::parse(line_json(lines[1])).as_object();
  EXPECT_EQ(json.at("recorded_amount_minor").as_int64(), 777);
  EXPECT_EQ(json.at("amount_minor").as_int64(), 1000);
}

TEST_F(RunServiceTest, CapsAPeriodByTheUnionOfItsPlans) {
  ASSERT_TRUE(ends(begin(header + "a,1000,usd,pm_1,\nb,1000,usd,pm_1,\nd,1000,usd,,\n")));
  EXPECT_EQ(limits(), (std::map<std::string, std::int64_t>{{"usd", 2200}}));
  // b once, with the larger amount; c and the yen are new; d is billed now.
  ASSERT_TRUE(ends(begin(header + "b,2000,usd,pm_1,\nc,500,usd,pm_1,\nc,70,jpy,pm_1,seats\n" +
                         "d,100,usd,pm_1,\n")));
  EXPECT_EQ(limits(), (std::map<std::string, std::int64_t>{{"usd", 3960}, {"jpy", 77}}));
  // A smaller third plan changes nothing.
  ASSERT_TRUE(ends(begin(header + "a,1,usd,pm_1,\n")));
  EXPECT_EQ(limits().at("usd"), 3960);
}

TEST_F(RunServiceTest, KeepsAnotherPlanOutWhileOneIsActive) {
  provider_.hold();
  const std::string run = begin(customers(20));
  const auto other = runs_->start(period(), plan(customers(10)).hash, "joe");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_NE(other.error().context.find(run), std::string::npos);
  provider_.let_go();
  ASSERT_TRUE(ends(run));
  EXPECT_TRUE(runs_->start(period(), plan(customers(10)).hash, "joe"));
}

TEST_F(RunServiceTest, ShowsHowFarItIsAndWhoIsOutstanding) {
  provider_.hold();
  const std::string run = begin(customers(20));
  ASSERT_TRUE(eventually([&] { return shown(run).run.in_progress == 8; }));
  const auto view = shown(run);
  EXPECT_EQ(view.run.covered, 8U);
  EXPECT_EQ(view.run.oldest.value(), "c1");
  EXPECT_TRUE(view.oldest_age);
  EXPECT_FALSE(view.rows_per_minute) << "watched for less than two seconds";
  const auto json = boost::json::parse(shown_json(view)).as_object();
  EXPECT_EQ(json.at("status"), "running");
  EXPECT_EQ(json.at("in_progress").to_number<int>(), 8);
  EXPECT_EQ(json.at("oldest"), "c1");
  EXPECT_TRUE(json.at("rows_per_minute").is_null());
  provider_.let_go();
  ASSERT_TRUE(ends(run));
}

TEST_F(RunServiceTest, TellsBadFilesWithTheirLineAndKeepsNothing) {
  const auto twice = runs_->plan(customers(3) + "c2,1000,usd,pm_1,\n", period(), "upload.csv");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(twice.error().context.find("upload.csv line 5: customer c2 with purpose subscription"),
            std::string::npos)
      << twice.error().context;
  const auto bad = runs_->plan(header + "a,x,usd,pm_1,\n", period(), "upload.csv");
  EXPECT_EQ(bad.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(plan(customers(3)).customers, 3U);
}

TEST_F(RunServiceTest, TellsWhyAFileCannotBePlanned) {
  const auto missing = runs_->plan_configured(period());
  EXPECT_EQ(missing.error().code, ErrorCode::invalid_config);
  for (const char* told : {"[schedule] customers", "customers.csv"}) {
    EXPECT_NE(missing.error().context.find(told), std::string::npos) << missing.error().context;
  }
  stop();
  options_.customers_path.clear();
  start();
  EXPECT_EQ(runs_->plan_configured(period()).error().code, ErrorCode::invalid_config);
}

TEST_F(RunServiceTest, RefusesWhatDoesNotExist) {
  const auto hash = plan(customers(3)).hash;
  EXPECT_EQ(runs_->start(period(), "0123456789abcdef", "jane").error().code, ErrorCode::not_found);
  const auto other = BillingPeriod::parse("2026-09").value();
  EXPECT_EQ(runs_->start(other, hash, "jane").error().code, ErrorCode::invalid_argument);
  for (const char* run : {"", "2026-08-0000000000000000", "nonsense"}) {
    EXPECT_EQ(runs_->show(run).error().code, ErrorCode::not_found);
    EXPECT_EQ(runs_->pause(run, {"jane", ""}).error().code, ErrorCode::not_found);
  }
  ASSERT_TRUE(ends(begin(customers(3))));
  ASSERT_TRUE(ends(begin(customers(4))));
  EXPECT_EQ(runs_->show("2026-08").error().code, ErrorCode::conflict) << "two begin so";
}

TEST_F(RunServiceTest, AsksNothingBeforeItIsAttachedOrAfterItStopped) {
  runs_->stop();
  EXPECT_EQ(runs_->list().error().code, ErrorCode::not_ready);
  EXPECT_EQ(runs_->pause("x", {"jane", ""}).error().code, ErrorCode::not_ready);
  stop();
  open();
  EXPECT_EQ(runs_->list().error().code, ErrorCode::not_ready);
  EXPECT_EQ(plan(customers(3)).customers, 3U) << "planning needs no runtime";
}

TEST_F(RunServiceTest, EndsAReportEarly) {
  const std::string run = begin(customers(1200));
  int lines = 0;
  const auto summary = runs_->report(run, [&lines](const ReportLine&) { return ++lines < 700; });
  ASSERT_TRUE(summary);
  EXPECT_EQ(lines, 700);
  ASSERT_TRUE(ends(run));
  EXPECT_EQ(report(run).second.size(), 1200U);
}

}  // namespace
}  // namespace onceward::ingress

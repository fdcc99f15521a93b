// PlanStore on an SQLite store: order, hash, duplicates, crashes, paging, the joined reports.
#include <onceward/core/digest.hpp>
#include <onceward/platform/sqlite.hpp>

#include <chrono>
#include <thread>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/child_process.hpp"
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

PlanRow plan_row(const std::string& customer, std::int64_t minor = 4990,
                 const std::string& purpose = "subscription") {
  return PlanRow{CustomerId(customer),
                 Purpose(purpose),
                 usd(minor),
                 PaymentMethod("pm_" + customer),
                 ProviderCustomer(customer),
                 "",
                 ""};
}

class PlanStoreTest : public JournalFixture<SqliteBackend> {
 protected:
  std::unique_ptr<PlanStore> plans() {
    auto made = backend().journal().plan_store();
    EXPECT_TRUE(made.has_value()) << made.error().context;
    return std::move(made).value();
  }
  std::unique_ptr<PlanWriter> begin(PlanStore& store, std::string_view text = "2026-08") {
    auto begun = store.begin(period(text), now);
    EXPECT_TRUE(begun.has_value()) << begun.error().context;
    return std::move(begun).value();
  }
  PlanSummary make(const std::vector<PlanRow>& rows, std::string_view text = "2026-08") {
    const auto store = plans();
    const auto writer = begin(*store, text);
    for (const PlanRow& row : rows) {
      const auto added = writer->add(row);
      EXPECT_TRUE(added.has_value()) << added.error().context;
    }
    const auto summary = writer->finish();
    EXPECT_TRUE(summary.has_value()) << summary.error().context;
    return *summary;
  }
  std::string stored(const std::string& sql) {
    auto connection = platform::SqliteConnection::open({.path = backend().path(), .vfs = {}});
    return connection->value(sql).value();
  }
};

TEST_F(PlanStoreTest, SortsAndKeepsEveryMember) {
  PlanRow full{CustomerId("b'%\""), Purpose("setup"),          jpy(5),
               PaymentMethod("pm"), ProviderCustomer("cus_9"), "2026-01-31@Europe/Prague",
               "no_payment_method"};
  const PlanSummary made = make({plan_row("c"), full, plan_row("a", 1), plan_row("a", 2, "setup")});
  const auto rows = plans()->read(made.hash, {}, 10).value();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], plan_row("a", 2, "setup"));
  EXPECT_EQ(rows[1], plan_row("a", 1));
  EXPECT_EQ(rows[2], full);
  EXPECT_EQ(rows[3], plan_row("c"));
  EXPECT_EQ(made.customers, 4U);
  EXPECT_EQ(made.to_bill, 3U);
  EXPECT_EQ(made.skipped, (std::map<std::string, std::uint64_t>{{"no_payment_method", 1}}));
  EXPECT_EQ(made.totals, (std::vector<PlanTotal>{{usd(0).currency, 4993}}));
  EXPECT_EQ(made.period, period());
  EXPECT_EQ(made.created_at, now);
  EXPECT_EQ(plans()->find(made.hash).value(), made);
}

TEST_F(PlanStoreTest, HashesAsTheFormatSays) {
  const auto nets = [](std::vector<std::string_view> fields) { return netstrings(fields); };
  Digest hash = sha256(nets({"onceward-plan/v1", "2026-08"}));
  for (const char* name : {"a", "b"}) {
    const std::string raw(hash.bytes.begin(), hash.bytes.end());
    const std::string method = std::string("pm_") + name;
    hash = sha256(raw + nets({name, "subscription", "4990", "usd", method, name, "", ""}));
  }
  EXPECT_EQ(make({plan_row("b"), plan_row("a")}).hash, to_hex(hash).substr(0, 32));
}

TEST_F(PlanStoreTest, AnEqualPlanIsReturnedAndAnyDifferenceIsAnotherPlan) {
  const PlanSummary first = make({plan_row("a"), plan_row("b")});
  EXPECT_EQ(make({plan_row("b"), plan_row("a")}), first) << "the order of adding means nothing";
  EXPECT_EQ(stored("SELECT count(*) FROM plans"), "1");
  EXPECT_EQ(stored("SELECT count(*) FROM plan_rows"), "2") << "the copy's rows are gone";
  PlanRow changed = plan_row("b");
  changed.anchor = "2026-01-31";
  EXPECT_NE(make({plan_row("a"), changed}).hash, first.hash);
  EXPECT_NE(make({plan_row("a"), plan_row("b", 1)}).hash, first.hash);
  EXPECT_NE(make({plan_row("a")}).hash, first.hash);
  EXPECT_NE(make({plan_row("a"), plan_row("b")}, "2026-09").hash, first.hash);
  EXPECT_EQ(make({}).customers, 0U);
  EXPECT_EQ(stored("SELECT count(*) FROM plans"), "6");
}

TEST_F(PlanStoreTest, RefusesAPairThatWasAddedBeforeAtOnceAndGoesOn) {
  const auto store = plans();
  const auto writer = begin(*store);
  for (int n = 0; n < 700; ++n) ASSERT_TRUE(writer->add(plan_row("c" + std::to_string(n))));
  for (const char* name : {"c3", "c699"}) {  // in a written chunk, and in the present one
    const auto again = writer->add(plan_row(name, 1));
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, ErrorCode::conflict);
    EXPECT_NE(again.error().context.find(name), std::string::npos);
    EXPECT_NE(again.error().context.find("subscription"), std::string::npos);
  }
  EXPECT_TRUE(writer->add(plan_row("c3", 1, "setup")));
  PlanRow bad = plan_row("d");
  bad.anchor = "\xff";
  EXPECT_EQ(writer->add(bad).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(writer->finish().value().customers, 701U);
}

TEST_F(PlanStoreTest, IsFoundByEightDigitsOrMoreIfUnambiguous) {
  const PlanSummary made = make({plan_row("a")});
  const auto store = plans();
  EXPECT_EQ(store->find(std::string_view(made.hash).substr(0, 8)).value().hash, made.hash);
  for (const std::string& text : {made.hash.substr(0, 7), std::string("0000000000"),
                                  made.hash + "0", std::string("%%%%%%%%"), std::string()}) {
    const auto none = store->find(text);
    ASSERT_FALSE(none.has_value()) << text;
    EXPECT_EQ(none.error().code, ErrorCode::not_found);
  }
  auto connection = platform::SqliteConnection::open({.path = backend().path(), .vfs = {}});
  const std::string twin = made.hash.substr(0, 10) + std::string(22, 'f');
  ASSERT_TRUE(
      connection->execute("INSERT INTO plans VALUES (77, '" + twin + "', '2026-08', 0, 0, 0, 0)"));
  EXPECT_EQ(store->find(made.hash.substr(0, 10)).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(store->find(made.hash).has_value());
  EXPECT_EQ(store->read("00000000", {}, 1).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->outcomes("00000000", {}, 1).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->tally("00000000").error().code, ErrorCode::not_found);
}

TEST_F(PlanStoreTest, ReadsInPages) {
  std::vector<PlanRow> rows;
  for (const char* name : {"a", "b", "c"}) {
    rows.push_back(plan_row(name));
    rows.push_back(plan_row(name, 1, "setup"));
  }
  const PlanSummary made = make(rows);
  const auto store = plans();
  PlanCursor cursor;
  std::vector<std::string> seen;
  for (;;) {
    const auto page = store->read(made.hash, cursor, 4).value();
    if (page.empty()) break;
    for (const PlanRow& row : page) seen.push_back(row.customer.value() + row.purpose.value());
    cursor = {page.back().customer, page.back().purpose};
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"asetup", "asubscription", "bsetup", "bsubscription",
                                            "csetup", "csubscription"}));
}

TEST_F(PlanStoreTest, JoinsRowsWithTheirObligationsAndCountsThem) {
  PlanRow skipped = plan_row("skipped");
  skipped.skip_reason = "no_payment_method";
  PlanRow skipped_but_billed = plan_row("manual");
  skipped_but_billed.skip_reason = "no_payment_method";
  const PlanSummary made = make({plan_row("done"), plan_row("open"), plan_row("other"),
                                 plan_row("none"), skipped, skipped_but_billed});
  CommitUnit one = unit(entity("x"), {"1"});
  one.rows.push_back(claim(row_in(key("done"), ObligationStatus::completed)));
  one.rows.push_back(claim(open_row(key("open"))));
  one.rows.push_back(claim(open_row(key("other", "2026-09"))));  // another period
  one.rows.push_back(claim(row_in(key("manual"), ObligationStatus::completed)));
  one.rows.push_back(claim(open_row(key("unplanned"))));
  store(one);

  const auto store = plans();
  const auto outcomes = store->outcomes(made.hash, {}, 10).value();
  ASSERT_EQ(outcomes.size(), 6U);
  std::map<std::string, std::string> by_customer;
  for (const PlannedOutcome& outcome : outcomes) {
    by_customer[outcome.row.customer.value()] =
        outcome.obligation ? std::string(to_text(outcome.obligation->status)) : "-";
    if (!outcome.obligation) continue;
    EXPECT_EQ(outcome.obligation->key, key(outcome.row.customer.value()));
  }
  EXPECT_EQ(by_customer, (std::map<std::string, std::string>{{"done", "completed"},
                                                             {"open", "in_progress"},
                                                             {"other", "-"},
                                                             {"none", "-"},
                                                             {"skipped", "-"},
                                                             {"manual", "completed"}}));
  EXPECT_EQ(store->outcomes(made.hash, {CustomerId("none"), Purpose("subscription")}, 2)
                .value()
                .front()
                .row.customer,
            CustomerId("open"));
  const auto tally = store->tally(made.hash).value();
  EXPECT_EQ(tally.by_status,
            (std::map<ObligationStatus, std::uint64_t>{{ObligationStatus::completed, 2},
                                                       {ObligationStatus::in_progress, 1}}));
  EXPECT_EQ(tally.without_obligation, 2U);
  EXPECT_EQ(tally.skipped, 1U);
}

TEST_F(PlanStoreTest, NothingIsVisibleBeforeTheFinishAndNothingStaysWithoutIt) {
  const auto store = plans();
  {
    const auto abandoned = begin(*store);
    for (int n = 0; n < 1200; ++n) ASSERT_TRUE(abandoned->add(plan_row("c" + std::to_string(n))));
    EXPECT_NE(stored("SELECT count(*) FROM plan_rows"), "0") << "chunks are written on the way";
    EXPECT_EQ(stored("SELECT count(*) FROM plans WHERE hash IS NOT NULL"), "0");
    const auto other = begin(*store, "2026-09");  // must leave a living writer's rows alone
    EXPECT_TRUE(other->add(plan_row("x")));
    EXPECT_EQ(other->finish().value().customers, 1U);
    EXPECT_EQ(abandoned->finish().value().customers, 1200U);
    const auto third = begin(*store, "2026-10");
    for (int n = 0; n < 5100; ++n) ASSERT_TRUE(third->add(plan_row("c" + std::to_string(n))));
  }
  EXPECT_EQ(stored("SELECT count(*) FROM plans"), "2");
  EXPECT_EQ(stored("SELECT count(*) FROM plan_rows"), "1201");
}

TEST_F(PlanStoreTest, LeftoversOfACrashAreRemovedByTheNextBegin) {
  backend().close();
  ChildProcess child([&](int descriptor) -> int {
    auto journal = SqliteJournal::open(backend().options()).value();
    const auto store = journal->plan_store().value();
    const auto writer = store->begin(period(), now).value();
    for (int n = 0; n < 1000; ++n) (void)writer->add(plan_row("c" + std::to_string(n)));
    tell(descriptor, 1);
    for (;;) ::pause();
  });
  ASSERT_EQ(child.read(4).size(), 4U);
  child.kill();
  backend().open();
  EXPECT_EQ(stored("SELECT count(*) FROM plans WHERE hash IS NULL"), "1");
  EXPECT_EQ(make({plan_row("a")}).customers, 1U);
  EXPECT_EQ(stored("SELECT count(*) FROM plans"), "1");
  EXPECT_EQ(stored("SELECT count(*) FROM plan_rows"), "1");
}

TEST_F(PlanStoreTest, IsKeptOverARestartAndReadByALookingProcess) {
  const PlanSummary made = make({plan_row("a")});
  backend().reopen();
  EXPECT_EQ(plans()->find(made.hash).value(), made);
  const auto looking = open_read_only({.path = backend().path()}).value();
  EXPECT_EQ(looking.plans->find(made.hash).value(), made);
}

TEST_F(PlanStoreTest, RefusesATotalBeyondSixtyThreeBits) {
  const auto store = plans();
  const auto writer = begin(*store);
  for (int n = 0; n <= 1024; ++n) {
    ASSERT_TRUE(writer->add(plan_row("c" + std::to_string(n), amount_minor_max)));
  }
  const auto summary = writer->finish();
  ASSERT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().code, ErrorCode::invalid_argument);
}

TEST_F(PlanStoreTest, AnswersUncertainWhileABarrierIsPending) {
  const PlanSummary made = make({plan_row("a")});
  const auto store = plans();
  backend().break_next_commit();
  ASSERT_TRUE(is<CommitUnknown>(commit_one(unit(entity("a"), {"1"}))));
  FaultVfs::heal();
  EXPECT_EQ(store->outcomes(made.hash, {}, 1).error().code, ErrorCode::store_uncertain);
  EXPECT_EQ(store->tally(made.hash).error().code, ErrorCode::store_uncertain);
  EXPECT_EQ(store->begin(period(), now).error().code, ErrorCode::store_uncertain);
  ASSERT_TRUE(journal().barrier().has_value());
  EXPECT_TRUE(store->tally(made.hash).has_value());
}

TEST_F(PlanStoreTest, LetsTheJournalCommitMeanwhile) {
  const auto store = plans();
  std::atomic<bool> is_done{false};
  std::thread planner([&] {
    const auto writer = begin(*store);
    for (int n = 0; n < 20'000; ++n) EXPECT_TRUE(writer->add(plan_row("c" + std::to_string(n))));
    EXPECT_EQ(writer->finish().value().customers, 20'000U);
    is_done = true;
  });
  int commits = 0;
  while (!is_done) {
    EXPECT_EQ(name_of(commit_one(unit(entity("a"), {"1"}))), "stored");
    ++commits;
  }
  planner.join();
  EXPECT_GT(commits, 2);
  EXPECT_EQ(history(entity("a")).size(), static_cast<std::size_t>(commits));
}

}  // namespace
}  // namespace onceward::journal::testing

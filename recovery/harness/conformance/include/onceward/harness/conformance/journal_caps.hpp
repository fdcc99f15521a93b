// Conformance of a journal, part 4: the spend-cap ledger, against sums written out by hand.
#pragma once

#include <onceward/harness/conformance/journal_fixture.hpp>

namespace onceward::journal::testing {

using Kind = CapOp::Kind;
/// Reserved and settled, in minor units.
using Use = std::pair<std::int64_t, std::int64_t>;

template <class Backend>
class JournalCapConformance : public JournalFixture<Backend> {
 protected:
  CommitAnswer run(const std::vector<CapOp>& ops, const std::vector<CapLimit>& limits = {}) {
    CommitUnit unit = this->unit(PersistenceId("cap/2026-08"));
    unit.caps = ops;
    unit.limits = limits;
    return this->commit_one(unit);
  }
  void expect_stored(const std::vector<CapOp>& ops, const std::vector<CapLimit>& limits = {}) {
    const CommitAnswer answer = this->run(ops, limits);
    EXPECT_TRUE(is<Stored>(answer)) << name_of(answer);
  }
  static CapLimit limit(Money money, const std::string& customer = "") {
    return CapLimit{period(), CustomerId(customer), money};
  }
  /// Reserved and settled of one bucket of 2026-08; {-1, -1} if it is not listed.
  Use use(const std::string& customer = "", const std::string& currency = "usd") {
    const auto uses = this->reader()->cap_use(period());
    for (const CapUse& use : *uses) {
      if (use.customer.value() == customer && use.currency.text() == currency) {
        return {use.reserved_minor, use.settled_minor};
      }
    }
    return {-1, -1};
  }
};
TYPED_TEST_SUITE_P(JournalCapConformance);

TYPED_TEST_P(JournalCapConformance, ReservesSettlesAndReleasesOnce) {
  for (int time = 0; time < 3; ++time) {
    this->expect_stored({cap(Kind::reserve, key("a"), usd(100))});
    EXPECT_EQ(this->use(), (Use{100, 0}));
  }
  for (int time = 0; time < 3; ++time) {
    this->expect_stored({cap(Kind::settle, key("a"), usd(90))});
    EXPECT_EQ(this->use(), (Use{0, 90})) << "what was charged counts, not what was reserved";
  }
  this->expect_stored({cap(Kind::release, key("a"), usd(100))});
  this->expect_stored({cap(Kind::reserve, key("a"), usd(100))});
  EXPECT_EQ(this->use(), (Use{0, 90})) << "settled is final";
  this->expect_stored({cap(Kind::reserve, key("b"), usd(7))});
  for (int time = 0; time < 3; ++time) {
    this->expect_stored({cap(Kind::release, key("b"), usd(7))});
    EXPECT_EQ(this->use(), (Use{0, 90}));
  }
  this->expect_stored({cap(Kind::reserve, key("b"), usd(8))});
  EXPECT_EQ(this->use(), (Use{8, 90})) << "a released one may be reserved again";
}

TYPED_TEST_P(JournalCapConformance, KeepsAttemptsPurposesPeriodsAndCurrenciesApart) {
  this->expect_stored(
      {cap(Kind::reserve, key("a"), usd(1), 1), cap(Kind::reserve, key("a"), usd(2), 2),
       cap(Kind::reserve, key("a", "2026-08", "setup"), usd(4), 1),
       cap(Kind::reserve, key("b"), usd(8), 1), cap(Kind::reserve, key("c"), jpy(16), 1),
       cap(Kind::reserve, key("a", "2026-09"), usd(32), 1)});
  EXPECT_EQ(this->use(), (Use{15, 0}));
  EXPECT_EQ(this->use("", "jpy"), (Use{16, 0}));
  this->expect_stored({cap(Kind::release, key("a"), usd(2), 2)});
  EXPECT_EQ(this->use(), (Use{13, 0}));
  EXPECT_EQ(this->reader()->cap_use(period("2026-09")).value().at(0).reserved_minor, 32);
}

TYPED_TEST_P(JournalCapConformance, RefusesWhatWouldPassALimitAndSaysByHowMuch) {
  this->expect_stored({}, {this->limit(usd(100))});
  this->expect_stored({cap(Kind::reserve, key("a"), usd(40))});
  this->expect_stored({cap(Kind::settle, key("b"), usd(20))});
  const CommitAnswer answer = this->run({cap(Kind::reserve, key("c"), usd(41))});
  ASSERT_TRUE(is<CapRefused>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<CapRefused>(answer), (CapRefused{period(), CustomerId(), usd(100), 60, 41}));
  this->expect_stored({cap(Kind::reserve, key("c"), usd(40))});
  EXPECT_EQ(this->use(), (Use{80, 20}));
  this->expect_stored({cap(Kind::reserve, key("d"), jpy(1000))});
  EXPECT_TRUE(is<CapRefused>(this->run({cap(Kind::reserve, key("e"), usd(1))})));
}

TYPED_TEST_P(JournalCapConformance, BooksWithoutAskingWhenNotEnforcedOrAlreadyPaid) {
  this->expect_stored({}, {this->limit(usd(10))});
  this->expect_stored({cap(Kind::reserve, key("a"), usd(11), 1, false)});
  this->expect_stored({cap(Kind::settle, key("b"), usd(50))});
  EXPECT_EQ(this->use(), (Use{11, 50}));
  EXPECT_TRUE(is<CapRefused>(this->run({cap(Kind::reserve, key("c"), usd(1))})));
}

TYPED_TEST_P(JournalCapConformance, AsksTheCustomersLimitBeforeTheTotal) {
  this->expect_stored({}, {this->limit(usd(100)), this->limit(usd(30), "a")});
  this->expect_stored({cap(Kind::reserve, key("a"), usd(20))});
  CommitAnswer answer = this->run({cap(Kind::reserve, key("a", "2026-08", "setup"), usd(200))});
  ASSERT_TRUE(is<CapRefused>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<CapRefused>(answer),
            (CapRefused{period(), CustomerId("a"), usd(30), 20, 200}));
  answer = this->run({cap(Kind::reserve, key("b"), usd(200))});
  ASSERT_TRUE(is<CapRefused>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<CapRefused>(answer).customer, CustomerId());
  this->expect_stored({cap(Kind::reserve, key("a", "2026-08", "setup"), usd(10))});
}

TYPED_TEST_P(JournalCapConformance, CountsWhatACustomerUsedBeforeHisLimitWasSet) {
  this->expect_stored({cap(Kind::reserve, key("a"), usd(20)),
                       cap(Kind::settle, key("a"), usd(5), 2),
                       cap(Kind::reserve, key("ab"), usd(1000)),
                       cap(Kind::reserve, key("a", "2026-08", "setup"), jpy(1000))});
  EXPECT_EQ(this->use("a"), (Use{-1, -1})) << "no limit of his own: not listed";
  CommitAnswer answer = this->run({}, {this->limit(usd(24), "a")});
  ASSERT_TRUE(is<CapRefused>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<CapRefused>(answer), (CapRefused{period(), CustomerId("a"), usd(24), 25, 0}));
  this->expect_stored({}, {this->limit(usd(26), "a")});
  EXPECT_EQ(this->use("a"), (Use{20, 5}));
  EXPECT_TRUE(is<CapRefused>(this->run({cap(Kind::reserve, key("a"), usd(2), 3)})));
  this->expect_stored({cap(Kind::reserve, key("a"), usd(1), 3)});
}

TYPED_TEST_P(JournalCapConformance, RefusesToLowerALimitBelowWhatIsUsed) {
  this->expect_stored({cap(Kind::reserve, key("a"), usd(60)), cap(Kind::settle, key("b"), usd(40))},
                      {this->limit(usd(500))});
  const CommitAnswer answer = this->run({}, {this->limit(usd(99))});
  ASSERT_TRUE(is<CapRefused>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<CapRefused>(answer), (CapRefused{period(), CustomerId(), usd(99), 100, 0}));
  EXPECT_EQ(this->reader()->cap_use(period()).value().at(0).limit_minor, 500);
  this->expect_stored({}, {this->limit(usd(100))});
  EXPECT_EQ(this->reader()->cap_use(period()).value().at(0).limit_minor, 100);
}

TYPED_TEST_P(JournalCapConformance, RunsAUnitsLimitsFirstAndItsOperationsInOrder) {
  this->expect_stored({}, {this->limit(usd(10))});
  EXPECT_TRUE(is<CapRefused>(
      this->run({cap(Kind::reserve, key("a"), usd(6)), cap(Kind::reserve, key("b"), usd(6))})));
  EXPECT_EQ(this->use(), (Use{0, 0})) << "nothing of a refused unit is booked";
  this->expect_stored({cap(Kind::reserve, key("a"), usd(6)), cap(Kind::release, key("a"), usd(6)),
                       cap(Kind::reserve, key("b"), usd(6))});
  EXPECT_EQ(this->use(), (Use{6, 0}));
  this->expect_stored({cap(Kind::reserve, key("c"), usd(9)), cap(Kind::settle, key("c"), usd(9))},
                      {this->limit(usd(15)), this->limit(usd(9), "c")});
  EXPECT_EQ(this->use(), (Use{6, 9}));
  EXPECT_EQ(this->use("c"), (Use{0, 9}));
}

TYPED_TEST_P(JournalCapConformance, KeepsTheLedgerOverARestart) {
  this->expect_stored({cap(Kind::reserve, key("a"), usd(6)), cap(Kind::settle, key("b"), usd(2))},
                      {this->limit(usd(10)), this->limit(usd(8), "a")});
  this->backend().reopen();
  EXPECT_EQ(this->use(), (Use{6, 2}));
  EXPECT_EQ(this->use("a"), (Use{6, 0}));
  EXPECT_TRUE(is<CapRefused>(this->run({cap(Kind::reserve, key("c"), usd(3))})));
  this->expect_stored({cap(Kind::settle, key("a"), usd(6)), cap(Kind::reserve, key("c"), usd(2))});
  EXPECT_EQ(this->use(), (Use{2, 8}));
}

TYPED_TEST_P(JournalCapConformance, RefusesSumsBeyondSixtyThreeBits) {
  std::vector<CapOp> ops;
  for (std::uint32_t attempt = 1; attempt <= 1025; ++attempt) {
    ops.push_back(cap(attempt % 2 == 0 ? Kind::reserve : Kind::settle, key("a"),
                      usd(amount_minor_max), attempt));
  }
  EXPECT_TRUE(is<InvalidUnit>(this->run(ops)));
  ops.resize(1024);
  this->expect_stored(ops);
  EXPECT_TRUE(is<InvalidUnit>(this->run({cap(Kind::settle, key("b"), usd(amount_minor_max))})));
}

REGISTER_TYPED_TEST_SUITE_P(JournalCapConformance, ReservesSettlesAndReleasesOnce,
                            KeepsAttemptsPurposesPeriodsAndCurrenciesApart,
                            RefusesWhatWouldPassALimitAndSaysByHowMuch,
                            BooksWithoutAskingWhenNotEnforcedOrAlreadyPaid,
                            AsksTheCustomersLimitBeforeTheTotal,
                            CountsWhatACustomerUsedBeforeHisLimitWasSet,
                            RefusesToLowerALimitBelowWhatIsUsed,
                            RunsAUnitsLimitsFirstAndItsOperationsInOrder,
                            KeepsTheLedgerOverARestart, RefusesSumsBeyondSixtyThreeBits);

}  // namespace onceward::journal::testing

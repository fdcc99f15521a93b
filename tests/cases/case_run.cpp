// Setups, and the mutations that lie in the store.
#include "tests/cases/case_run.hpp"

#include <gtest/gtest-spi.h>

#include <algorithm>

#include "tests/support/journal_wrapper.hpp"

namespace onceward::cases {

namespace {

using testing::JournalWrapper;

bool claims(const CommitUnit& unit) {
  return std::any_of(unit.rows.begin(), unit.rows.end(),
                     [](const RowWrite& row) { return row.kind == RowWrite::Kind::claim; });
}

// Commits part of a unit first and the rest in a transaction of its own; the process may die
// between the two.
class SplitJournal final : public JournalWrapper {
 public:
  enum class Apart : std::uint8_t { claim, marks };
  SplitJournal(CaseWorld& world, journal::Journal& inner, Apart apart)
      : JournalWrapper(inner), world_(world), apart_(apart) {}

  std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override {
    ONCEWARD_CHECK(units.size() == 1, "cases commit one unit at a time");
    CommitUnit rest = units.front();
    CommitUnit first = rest;
    first.events.clear();
    first.caps.clear();
    first.limits.clear();
    if (apart_ == Apart::claim) {
      if (!claims(rest)) return inner_.commit(units);
      first.marks.clear();
      for (auto& row : rest.rows) row.kind = RowWrite::Kind::update;
    } else {
      if (rest.marks.empty() || rest.events.empty()) return inner_.commit(units);
      first.rows.clear();
      rest.marks.clear();
    }
    auto answers = inner_.commit({&first, 1});
    if (!std::holds_alternative<Stored>(answers.front())) return answers;
    if (world_.dies_inside_claim()) return {CommitUnknown{}};
    return inner_.commit({&rest, 1});
  }

 private:
  CaseWorld& world_;
  Apart apart_;
};

// Compares with what is used and reserves nothing.
class UnreservedJournal final : public JournalWrapper {
 public:
  using JournalWrapper::JournalWrapper;

  std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override {
    CommitUnit unit = units.front();
    for (const auto& op : unit.caps) {
      if (op.kind != CapOp::Kind::reserve || !op.enforce) continue;
      const auto reader = inner_.reader();
      const auto uses = reader ? (*reader)->cap_use(op.obligation.period) : fail_use();
      if (!uses) continue;
      for (const auto& use : *uses) {
        if (!use.limit_minor || *use.limit_minor >= use.settled_minor + op.amount.minor) continue;
        return {CapRefused{op.obligation.period, use.customer,
                           Money{*use.limit_minor, op.amount.currency}, use.settled_minor,
                           op.amount.minor}};
      }
    }
    std::erase_if(unit.caps, [](const CapOp& op) { return op.kind == CapOp::Kind::reserve; });
    return inner_.commit({&unit, 1});
  }

 private:
  static Result<std::vector<journal::CapUse>> fail_use() {
    return fail(ErrorCode::store_io, "no reader");
  }
};

std::optional<Guard> guard_of(Mutation mutation) {
  switch (mutation) {
    case Mutation::random_key:
      return Guard::stable_key;
    case Mutation::key_without_attempt:
      return Guard::attempt_in_key;
    case Mutation::failed_on_timeout:
      return Guard::unknown_lookup;
    case Mutation::claim_means_done:
      return Guard::resume;
    case Mutation::resend_after_a_day:
      return Guard::key_age;
    case Mutation::pending_is_a_charge:
      return Guard::charge_status;
    case Mutation::period_of_the_clock:
      return Guard::period_of_command;
    case Mutation::none:
    case Mutation::claim_apart:
    case Mutation::cap_not_reserved:
    case Mutation::hint_apart:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

CaseOptions CaseSetup::options() const {
  CaseOptions options = CaseWorld::options(flow);
  if (const auto guard = guard_of(mutation)) options.weakening = Weakening::without(*guard);
  const bool is_claim = mutation == Mutation::claim_apart;
  if (is_claim || mutation == Mutation::hint_apart) {
    const auto apart = is_claim ? SplitJournal::Apart::claim : SplitJournal::Apart::marks;
    options.wrap_journal = [apart](CaseWorld& world, journal::Journal& inner) {
      return std::make_unique<SplitJournal>(world, inner, apart);
    };
  } else if (mutation == Mutation::cap_not_reserved) {
    options.wrap_journal = [](CaseWorld&, journal::Journal& inner) {
      return std::make_unique<UnreservedJournal>(inner);
    };
  }
  return options;
}

CaseOptions CaseSetup::options_from(std::string_view start) const {
  CaseOptions starting = options();
  starting.start = utc(start);
  return starting;
}

void in_both_flows(CaseBody body) {
  {
    SCOPED_TRACE("flow payment_intents");
    body({Flow::payment_intents, Mutation::none});
  }
  SCOPED_TRACE("flow charges");
  body({Flow::charges, Mutation::none});
}

void in_two_steps(CaseBody body) {
  body({Flow::payment_intents, Mutation::none});
}

std::string report_of(CaseBody body, const CaseSetup& setup) {
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    body(setup);
  }
  std::string report;
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) report += results.GetTestPartResult(i).message();
  }
  return report;
}

}  // namespace onceward::cases

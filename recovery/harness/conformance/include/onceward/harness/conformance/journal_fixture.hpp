// What the journal's tests share: building units, following the ends of histories, and reading
// back. Knows only the port.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <onceward/journal/journal.hpp>

namespace onceward::journal::testing {

inline PersistenceId entity(const std::string& name) {
  return PersistenceId("customer/" + name);
}

inline BillingPeriod period(std::string_view text = "2026-08") {
  return BillingPeriod::parse(text).value();
}

inline Money usd(std::int64_t minor) {
  return Money{minor, Currency::parse("usd").value()};
}
inline Money jpy(std::int64_t minor) {
  return Money{minor, Currency::parse("jpy").value()};
}

inline ObligationKey key(const std::string& customer, std::string_view period_text = "2026-08",
                         const std::string& purpose = "subscription") {
  return ObligationKey{CustomerId(customer), period(period_text), Purpose(purpose)};
}

/// An open row with everything filled in, so that a round trip shows each member.
inline ObligationRow open_row(const ObligationKey& of) {
  ObligationRow row;
  row.key = of;
  row.status = ObligationStatus::in_progress;
  row.amount = usd(4990);
  row.charge_id = "";
  row.attempt = 1;
  row.request_id = RequestId("request-1");
  row.initiated_at = Timestamp{1000};
  row.updated_at = Timestamp{2000};
  row.next_action_at = Timestamp{3000};
  return row;
}

inline ObligationRow row_in(const ObligationKey& of, ObligationStatus status) {
  ObligationRow row = open_row(of);
  row.status = status;
  if (!is_open(status) || is_operator_owned(status)) row.next_action_at.reset();
  return row;
}

inline RowWrite claim(ObligationRow row) {
  return RowWrite{RowWrite::Kind::claim, std::move(row)};
}
inline RowWrite update(ObligationRow row) {
  return RowWrite{RowWrite::Kind::update, std::move(row)};
}

inline CapOp cap(CapOp::Kind kind, const ObligationKey& obligation, Money amount,
                 std::uint32_t attempt = 1, bool enforce = true) {
  return CapOp{kind, obligation, attempt, amount, enforce};
}

/// A unit with one event at the beginning of a history, for code without the fixture.
inline CommitUnit unit_of(const PersistenceId& id, Epoch epoch, std::uint32_t shards = 4) {
  CommitUnit made;
  made.persistence_id = id;
  made.shard = shard_of(id, shards);
  made.epoch = epoch;
  made.writer = WriterId("writer-1");
  made.events.push_back({{"Tested", 1}, "1"});
  return made;
}

/// The name of the alternative, for messages and comparisons.
inline std::string name_of(const CommitAnswer& answer) {
  struct Namer {
    std::string operator()(const Stored&) { return "stored"; }
    std::string operator()(const ClaimRefused&) { return "claim"; }
    std::string operator()(const CapRefused&) { return "cap"; }
    std::string operator()(const MarkRefused&) { return "mark"; }
    std::string operator()(const InvalidUnit& a) { return "invalid: " + a.error.context; }
    std::string operator()(const Fenced& a) {
      return a.by == Fenced::By::epoch ? "fenced by epoch" : "fenced by sequence";
    }
    std::string operator()(const CommitUnknown& a) { return "unknown: " + a.error.context; }
  };
  return std::visit(Namer(), answer);
}

template <class Alternative>
bool is(const CommitAnswer& answer) {
  return std::holds_alternative<Alternative>(answer);
}

/// A journal under test with the ends of the histories its tests have written. `Backend` has
/// `Journal& journal()`, `void reopen()` (a restart of the process: readers and epochs are new),
/// `void break_next_commit()` (the next commit of a group fails after its writes) and `shards`.
template <class Backend>
class JournalFixture : public ::testing::Test {
 protected:
  static constexpr Timestamp now{1'786'060'800'000};

  Journal& journal() { return backend_.journal(); }
  Backend& backend() { return backend_; }

  std::unique_ptr<JournalReader> reader() {
    auto made = journal().reader();
    EXPECT_TRUE(made.has_value());
    return std::move(made).value();
  }

  /// A unit at the entity's known end under the present epoch, with one event for each payload.
  CommitUnit unit(const PersistenceId& id, const std::vector<std::string>& payloads = {}) {
    CommitUnit made;
    made.persistence_id = id;
    made.shard = shard_of(id, Backend::shards);
    made.epoch = journal().epoch_of(made.shard);
    made.writer = WriterId("writer-1");
    made.expected = ends_[id].first;
    made.head = ends_[id].second;
    made.at = now;
    for (const std::string& payload : payloads) made.events.push_back({{"Tested", 1}, payload});
    return made;
  }

  std::vector<CommitAnswer> commit(const std::vector<CommitUnit>& units) {
    auto answers = journal().commit(units);
    EXPECT_EQ(answers.size(), units.size());
    for (std::size_t at = 0; at < answers.size(); ++at) {
      if (const auto* stored = std::get_if<Stored>(&answers[at])) {
        ends_[units[at].persistence_id] = {stored->last, stored->head};
      }
    }
    return answers;
  }
  CommitAnswer commit_one(const CommitUnit& one) { return commit({one}).at(0); }

  /// Commits and expects Stored; returns the new end.
  Stored store(const CommitUnit& one) {
    const CommitAnswer answer = commit_one(one);
    EXPECT_TRUE(is<Stored>(answer)) << name_of(answer);
    return is<Stored>(answer) ? std::get<Stored>(answer) : Stored{};
  }

  std::vector<StoredEvent> history(const PersistenceId& id, SequenceNr after = {}) {
    std::vector<StoredEvent> events;
    const auto end = reader()->replay(id, after, [&](const PersistenceId&, StoredEvent&& event) {
      events.push_back(std::move(event));
      return true;
    });
    EXPECT_TRUE(end.has_value()) << end.error().context;
    return events;
  }
  std::vector<std::string> payloads(const PersistenceId& id, SequenceNr after = {}) {
    std::vector<std::string> found;
    for (const StoredEvent& event : history(id, after)) found.push_back(event.event.payload);
    return found;
  }
  /// Takes the end of the history from the store, as a recovery does.
  void follow(const PersistenceId& id) {
    const auto end = reader()->replay(id, {}, [](auto&&...) { return true; });
    ASSERT_TRUE(end.has_value()) << end.error().context;
    ends_[id] = {end->last, end->head};
  }
  std::optional<ObligationRow> row(const ObligationKey& of) {
    auto found = reader()->row(of);
    EXPECT_TRUE(found.has_value()) << found.error().context;
    return found.has_value() ? *found : std::nullopt;
  }

 private:
  Backend backend_;
  std::map<PersistenceId, std::pair<SequenceNr, Digest>> ends_;
};

}  // namespace onceward::journal::testing

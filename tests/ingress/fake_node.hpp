// A node whose runtime says what the test wants and whose store holds what the test put there: for
// the answers of the API that a sound node gives only in rare moments.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include <onceward/billing/billing_commands.hpp>
#include <onceward/ingress/http_api.hpp>
#include <onceward/platform/system_clock.hpp>

namespace onceward::test {

/// What the readers of a FakeJournal see. Thread-safe.
class FakeStore {
 public:
  void put(const ObligationRow& row) {
    const std::lock_guard lock(mutex_);
    rows_.insert_or_assign(row.key, row);
  }
  void put(const Mark& mark) {
    const std::lock_guard lock(mutex_);
    marks_.insert_or_assign({mark.scope, mark.key}, mark);
  }
  void quarantine(const CustomerId& customer) {
    const std::lock_guard lock(mutex_);
    quarantined_.push_back({customer_persistence_id(customer), "chain broken", Timestamp{5}});
  }
  /// Every read fails with this from now on.
  void fail_with(std::optional<Error> error) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(error);
  }

  template <class T, class F>
  Result<T> read(F&& look) const {
    const std::lock_guard lock(mutex_);
    if (failure_) return Unexpected{*failure_};
    return look(*this);
  }

  std::map<ObligationKey, ObligationRow> rows_;                // guarded
  std::vector<RefundRow> refunds_;                             // guarded
  std::map<std::pair<std::string, std::string>, Mark> marks_;  // guarded
  std::vector<journal::Quarantined> quarantined_;              // guarded
  std::map<std::string, std::vector<StoredEvent>> events_;     // guarded
 private:
  mutable std::mutex mutex_;
  std::optional<Error> failure_;  // guarded
};

class FakeReader final : public journal::JournalReader {
 public:
  explicit FakeReader(const FakeStore& store) : store_(store) {}

  Result<journal::HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                                     const journal::EventSink& sink) override {
    return store_.read<journal::HistoryEnd>([&](const FakeStore& s) -> Result<journal::HistoryEnd> {
      journal::HistoryEnd end;
      const auto found = s.events_.find(id.value());
      if (found == s.events_.end()) return end;
      for (const auto& event : found->second) {
        end.last = event.sequence_nr;
        if (event.sequence_nr > after && !sink(id, StoredEvent(event))) break;
      }
      return end;
    });
  }
  void replay_many(
      std::span<const PersistenceId> ids, const journal::EventSink& sink,
      const std::function<void(const PersistenceId&, Result<journal::HistoryEnd>)>& done) override {
    for (const auto& id : ids) done(id, replay(id, {}, sink));
  }
  Result<std::uint64_t> scan(
      std::uint64_t,
      const std::function<bool(std::uint64_t, const PersistenceId&, StoredEvent&&)>&) override {
    return std::uint64_t{0};
  }
  Result<std::optional<journal::StoredSnapshot>> snapshot(const PersistenceId&) override {
    return std::optional<journal::StoredSnapshot>();
  }
  Result<std::optional<ObligationRow>> row(const ObligationKey& key) override {
    return store_.read<std::optional<ObligationRow>>([&](const FakeStore& s) {
      const auto found = s.rows_.find(key);
      return found == s.rows_.end() ? std::optional<ObligationRow>() : std::optional(found->second);
    });
  }
  Result<std::vector<ObligationRow>> rows_of(const CustomerId& customer) override {
    return store_.read<std::vector<ObligationRow>>([&](const FakeStore& s) {
      std::vector<ObligationRow> found;
      for (const auto& [key, row] : s.rows_) {
        if (key.customer == customer) found.push_back(row);
      }
      return found;
    });
  }
  Result<std::vector<ObligationRow>> rows(const journal::RowQuery& query) override {
    return store_.read<std::vector<ObligationRow>>([&](const FakeStore& s) {
      std::vector<ObligationRow> found;
      for (const auto& [key, row] : s.rows_) {
        const bool after = std::pair(key.customer, key.purpose) >
                           std::pair(query.after_customer, query.after_purpose);
        if (key.period == query.period && after && found.size() < query.limit &&
            (!query.status || row.status == *query.status)) {
          found.push_back(row);
        }
      }
      return found;
    });
  }
  Result<std::vector<ObligationRow>> due(Timestamp, std::size_t) override {
    return std::vector<ObligationRow>();
  }
  Result<std::vector<ObligationRow>> open_before(Epoch, const std::optional<ObligationKey>& after,
                                                 std::size_t limit) override {
    return rows_where(after, limit, [](const ObligationRow& row) {
      return is_open(row.status) && !is_operator_owned(row.status);
    });
  }
  Result<std::vector<PersistenceId>> ids_under(std::string_view prefix,
                                               const std::optional<PersistenceId>& after,
                                               std::size_t limit) override {
    return store_.read<std::vector<PersistenceId>>([&](const FakeStore& s) {
      std::vector<PersistenceId> found;
      for (const auto& [id, events] : s.events_) {
        if (id.rfind(prefix, 0) == 0 && (!after || after->value() < id) && found.size() < limit) {
          found.emplace_back(id);
        }
      }
      return found;
    });
  }
  Result<std::optional<ObligationRow>> row_of_charge(std::string_view charge_id) override {
    return store_.read<std::optional<ObligationRow>>([&](const FakeStore& s) {
      for (const auto& [key, row] : s.rows_) {
        if (row.charge_id == charge_id) return std::optional(row);
      }
      return std::optional<ObligationRow>();
    });
  }
  Result<std::vector<RefundRow>> refunds_of(const CustomerId& customer) override {
    return refunds_where([&](const RefundRow& row) { return row.obligation.customer == customer; });
  }
  Result<std::vector<RefundRow>> refunds(const journal::RefundQuery& query) override {
    return refunds_where(
        [&](const RefundRow& row) { return !query.status || row.status == *query.status; });
  }
  /// In the order of a real one.
  Result<std::vector<ObligationRow>> attention_rows(const std::optional<ObligationKey>& after,
                                                    std::size_t limit) override {
    return rows_where(after, limit, [](const ObligationRow& row) {
      return is_operator_owned(row.status) || row.status == ObligationStatus::uncollectible ||
             row.status == ObligationStatus::processing ||
             row.status == ObligationStatus::action_required ||
             (row.status == ObligationStatus::completed && !row.reason.empty());
    });
  }
  Result<std::optional<Mark>> mark(std::string_view scope, std::string_view key,
                                   Timestamp now) override {
    return store_.read<std::optional<Mark>>([&](const FakeStore& s) {
      const auto found = s.marks_.find({std::string(scope), std::string(key)});
      const bool lives =
          found != s.marks_.end() && (!found->second.expires_at || *found->second.expires_at > now);
      return lives ? std::optional(found->second) : std::optional<Mark>();
    });
  }
  Result<std::vector<journal::CapUse>> cap_use(const BillingPeriod&) override {
    return std::vector<journal::CapUse>();
  }
  Result<std::vector<journal::Quarantined>> quarantined() override {
    return store_.read<std::vector<journal::Quarantined>>(
        [&](const FakeStore& s) { return s.quarantined_; });
  }
  Result<journal::JournalStats> stats() override { return journal::JournalStats{}; }

 private:
  static std::tuple<std::string, std::string, std::string> order_of(const ObligationKey& key) {
    return {key.customer.value(), key.period.text(), key.purpose.value()};
  }

  template <class Predicate>
  Result<std::vector<ObligationRow>> rows_where(const std::optional<ObligationKey>& after,
                                                std::size_t limit, Predicate is_wanted) {
    return store_.read<std::vector<ObligationRow>>([&](const FakeStore& s) {
      std::vector<ObligationRow> found;
      for (const auto& [key, row] : s.rows_) {
        const bool is_after = !after || order_of(key) > order_of(*after);
        if (is_wanted(row) && is_after) found.push_back(row);
      }
      std::sort(found.begin(), found.end(),
                [](const auto& a, const auto& b) { return order_of(a.key) < order_of(b.key); });
      if (found.size() > limit) found.resize(limit);
      return found;
    });
  }
  template <class Predicate>
  Result<std::vector<RefundRow>> refunds_where(Predicate is_wanted) {
    return store_.read<std::vector<RefundRow>>([&](const FakeStore& s) {
      std::vector<RefundRow> found;
      for (const RefundRow& row : s.refunds_) {
        if (is_wanted(row)) found.push_back(row);
      }
      return found;
    });
  }

  const FakeStore& store_;
};

class FakeJournal final : public journal::Journal {
 public:
  explicit FakeJournal(const FakeStore& store) : store_(store) {}
  std::vector<CommitAnswer> commit(std::span<const CommitUnit>) override { return {}; }
  Result<Epoch> barrier() override { return Epoch{1}; }
  bool barrier_pending() const noexcept override { return false; }
  Result<Epoch> raise_epoch(ShardNr) override { return Epoch{1}; }
  Epoch epoch_of(ShardNr) const noexcept override { return {1}; }
  Result<Unit> quarantine(const PersistenceId&, std::string_view, Timestamp) override {
    return ok();
  }
  Result<Unit> lift_quarantine(const PersistenceId&) override { return ok(); }
  Result<std::unique_ptr<journal::JournalReader>> reader() override {
    return std::unique_ptr<journal::JournalReader>(std::make_unique<FakeReader>(store_));
  }

 private:
  const FakeStore& store_;
};

/// Hands each command to `on_ask`, on the thread that asked.
class FakeRuntime final : public actors::Runtime {
 public:
  using Told = std::function<void(billing::BillingReply)>;

  void ask(const PersistenceId& to, std::any command, actors::ReplySink reply) override {
    const auto* known = std::any_cast<billing::BillingCommand>(&command);
    if (known == nullptr || !std::holds_alternative<billing::BillCustomer>(*known)) {
      return on_other(to, command, reply);
    }
    const auto& billed = std::get<billing::BillCustomer>(*known);
    EXPECT_EQ(to, customer_persistence_id(billed.key.customer));
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(billed);
    }
    on_ask(billed, [reply](billing::BillingReply told) { reply(std::any(std::move(told))); });
  }
  void wake(const PersistenceId&) override {}
  void lift_quarantine(const PersistenceId& id, std::function<void(Result<Unit>)> done) override {
    {
      const std::lock_guard lock(mutex_);
      lifted_.push_back(id);
    }
    done(ok());
  }
  bool is_recovered() const override { return true; }
  actors::RuntimeStats stats() const override { return {}; }
  void drain(std::int64_t) override {}

  [[nodiscard]] std::vector<billing::BillCustomer> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  [[nodiscard]] std::vector<PersistenceId> lifted() const {
    const std::lock_guard lock(mutex_);
    return lifted_;
  }

  std::function<void(const billing::BillCustomer&, Told)> on_ask;
  /// For commands that are no request to bill.
  std::function<void(const PersistenceId&, const std::any&, const actors::ReplySink&)> on_other =
      [](const PersistenceId& to, const std::any&, const actors::ReplySink&) {
        ADD_FAILURE() << "nobody expects a command to " << to.value();
      };

 private:
  mutable std::mutex mutex_;
  std::vector<billing::BillCustomer> asked_;  // guarded
  std::vector<PersistenceId> lifted_;         // guarded
};

/// One answer that may come from another thread.
class Inbox {
 public:
  [[nodiscard]] ingress::HttpApi::Answer answer() {
    return [this](platform::HttpResponse response) {
      {
        const std::lock_guard lock(mutex_);
        EXPECT_FALSE(response_.has_value()) << "answered twice";
        response_ = std::move(response);
      }
      changed_.notify_all();
    };
  }
  /// Waits for it; a test fails rather than waiting for ever.
  platform::HttpResponse wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds{20}, [&] {
      return response_.has_value();
    })) << "no answer";
    return response_.value_or(platform::HttpResponse{});
  }
  [[nodiscard]] bool is_empty() {
    const std::lock_guard lock(mutex_);
    return !response_.has_value();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<platform::HttpResponse> response_;  // guarded
};

[[nodiscard]] inline std::string header_of(const platform::HttpResponse& response,
                                           std::string_view name) {
  return std::string(platform::find_header(response.headers, name).value_or("(absent)"));
}
[[nodiscard]] inline boost::json::object json_of(const platform::HttpResponse& response) {
  boost::json::error_code error;
  auto value = boost::json::parse(response.body, error);
  EXPECT_TRUE(value.is_object()) << response.body;
  return value.is_object() ? value.as_object() : boost::json::object{};
}
[[nodiscard]] inline std::string text_at(const platform::HttpResponse& response,
                                         std::string_view member) {
  const auto body = json_of(response);
  const auto* value = body.if_contains(member);
  return value == nullptr     ? "(absent)"
         : value->is_string() ? std::string(value->as_string().c_str())
                              : boost::json::serialize(*value);
}

}  // namespace onceward::test

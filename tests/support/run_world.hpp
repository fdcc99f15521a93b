// RunWorld: one scheduler's machine, its journal, its plan and its customers, pumped by hand in
// virtual time. Every commit and every message is a place where the process may die.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onceward/billing/scheduler_entity.hpp>

namespace onceward::testing {

/// What happens at one commit of the scheduler.
enum class RunCommit : std::uint8_t {
  stored,
  crash_before,  ///< the process dies, nothing is on disk
  crash_after,   ///< it is on disk, then the process dies
  unknown_lost,
  unknown_stored,
  cap_refused,
};

/// What a customer does when asked the next time; then it behaves again.
enum class CustomerMood : std::uint8_t {
  busy,
  uncertain_lost,    ///< nothing was recorded
  uncertain_stored,  ///< it was recorded
  silent,            ///< recorded, but both notifications are lost
  quarantined,
  conflict,
  granularity,
  not_begun,
  refused,
  hangs,  ///< stays in progress until settle() is called
};

struct WorldCustomer {
  std::deque<CustomerMood> moods;
  std::vector<RequestId> request_ids;  ///< of every ask
  std::vector<Money> amounts;
  std::optional<ObligationStatus> status;
  std::vector<std::uint64_t> waiters;  ///< correlations to be told when it leaves in_progress
  bool hangs = false;
};

class RunWorld {
 public:
  using Key = std::pair<std::string, std::string>;  ///< customer, purpose

  explicit RunWorld(billing::SchedulerPolicy policy);

  /// `n` billable rows c00001 .. of 10.00 usd each under this plan hash.
  [[nodiscard]] static std::vector<billing::RunRow> rows(int n);
  billing::ApprovedPlan add_plan(const std::string& hash, std::vector<billing::RunRow> rows);
  [[nodiscard]] billing::StartRun start_of(const billing::ApprovedPlan& plan) const;

  /// Feeds a command and returns its reply; the reply is absent if the process died first.
  std::optional<billing::SchedulerReply> command(billing::SchedulerCommand command);
  /// Delivers one message; false if there is none.
  bool deliver();
  /// Delivers until nothing is under way (hanging customers excepted).
  void run();
  /// Run and tick until the newest run is no longer active, at most `ticks` times.
  void run_to_end(int ticks);
  void tick(std::int64_t after_ms = 1000);
  /// The customer's outcome arrives.
  void settle(const Key& key, ObligationStatus status);
  /// The process dies and a new incarnation recovers from the journal.
  void crash();

  /// Asked for every commit; default stored.
  std::function<RunCommit(const CommitUnit&)> fate;
  /// Chooses which message is delivered next; default the oldest.
  std::function<std::size_t(std::size_t)> pick;
  /// Loads answer with this error while it is set.
  std::optional<Error> load_error;
  bool deliver_loads = true;

  [[nodiscard]] billing::RunView newest();
  [[nodiscard]] const std::vector<StoredEvent>& journal() const { return journal_; }
  [[nodiscard]] std::vector<billing::SchedulerEvent> events() const;
  [[nodiscard]] const std::vector<CapLimit>& limits() const { return limits_; }
  [[nodiscard]] std::map<Key, WorldCustomer>& customers() { return customers_; }
  [[nodiscard]] WorldCustomer& customer(int n);
  [[nodiscard]] std::size_t commits() const { return commits_; }
  [[nodiscard]] std::size_t asks() const { return asks_; }
  [[nodiscard]] std::size_t open_max() const { return open_max_; }
  [[nodiscard]] std::size_t loads() const { return loads_; }
  [[nodiscard]] bool is_quarantined() const { return quarantined_; }
  [[nodiscard]] const billing::SchedulerState& state() const { return machine_->state(); }
  [[nodiscard]] Now now() const { return now_; }

  /// Empty if the cursor never moved back, runs completed at most once and request ids are stable.
  [[nodiscard]] std::string verdict() const;

 private:
  struct Message {
    std::variant<billing::SchedulerCommand, Key> body;  ///< to the scheduler, or: settle
  };

  void boot();
  void step(Input input);
  void perform(Output&& output);
  void commit(output::Commit&& commit);
  CommitAnswer store(const CommitUnit& unit);
  void ask(const output::Tell& tell);
  void answer(const Key& key, std::uint64_t correlation, billing::BillingReply reply);
  [[nodiscard]] billing::BillingReply told(const Key& key) const;
  [[nodiscard]] billing::PlanRowsLoaded load(const billing::LoadPlanRows& query) const;

  std::shared_ptr<const billing::SchedulerEntity> decider_;
  std::unique_ptr<TypedMachine<billing::SchedulerEntity>> machine_;
  std::uint64_t incarnation_ = 0;
  std::vector<StoredEvent> journal_;
  std::vector<CapLimit> limits_;
  std::map<std::string, std::vector<billing::RunRow>> plans_;
  std::map<Key, WorldCustomer> customers_;
  std::deque<Message> messages_;
  std::deque<Output> outputs_;
  std::optional<billing::SchedulerReply> reply_;
  Now now_;
  bool died_ = false;
  bool quarantined_ = false;
  std::size_t commits_ = 0;
  std::size_t asks_ = 0;
  std::size_t loads_ = 0;
  std::size_t open_now_ = 0;
  std::size_t open_max_ = 0;
};

}  // namespace onceward::testing

// CaseWorld: billing nodes, one store and the simulated provider in virtual time: the world in
// which the public reports of tests/cases are played. Its judge (L, W, K and the audit) looks only
// at the provider's ledger and wire log and at what is stored.
#pragma once

#include <any>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/billing/inbox_entity.hpp>
#include <onceward/journal/journal.hpp>
#include <onceward/provider/simulator/webhooks.hpp>

#include "provider/stripe/provider_time.hpp"
#include "tests/support/case_machine.hpp"
#include "tests/support/simulator_port.hpp"

namespace onceward::testing {

struct CaseOptions {
  billing::BillingPolicy policy;  ///< set by CaseWorld::options()
  billing::Weakening weakening;   ///< guards of billing that are taken out
  /// Puts another journal around the store: a guard of the store taken out, or faults.
  std::function<std::unique_ptr<journal::Journal>(CaseWorld&, journal::Journal&)> wrap_journal;
  /// An SQLite file instead of memory.
  std::string sqlite_path;
  std::size_t in_flight_max = 64;
  /// A dead process is started again after this.
  std::chrono::milliseconds downtime{2'000};
  std::uint64_t seed = 1;
  Timestamp start = *parse_iso("2026-09-01T00:00:00Z");
};

/// One process. `is_owner`: it believes that it may write; what it stores is the journal's to say.
struct CaseNode {
  std::uint64_t process = 1;
  std::string name;
  bool is_up = false;
  bool is_owner = true;
  bool is_paused = false;
  /// That this process writes under.
  Epoch epoch;
  std::optional<Timestamp> start_at;
  std::int64_t wall_skew_ms = 0;
  std::int64_t boot_at_ms = 0;
  std::uint64_t boot = 1;
  provider::stripe::ProviderTime provider_time;
  std::size_t in_flight = 0;
  std::deque<std::pair<PersistenceId, Incarnation>> permit_queue;
  std::map<PersistenceId, std::unique_ptr<CaseMachine>> machines;
  std::optional<Timestamp> last_tick;
  bool is_dying = false;
};

/// What a caller holds of a command that it sent.
struct CaseCall {
  std::vector<billing::BillingReply> replies;
  [[nodiscard]] bool is_answered() const { return !replies.empty(); }
  /// Of the newest reply, if it tells of an obligation.
  [[nodiscard]] const billing::Told* told() const {
    return replies.empty() ? nullptr : std::get_if<billing::Told>(&replies.back());
  }
  [[nodiscard]] std::optional<ObligationStatus> status() const {
    return told() == nullptr ? std::nullopt : std::optional(told()->row.status);
  }
  [[nodiscard]] std::string charge() const {
    return told() == nullptr ? std::string() : told()->row.charge_id;
  }
};

class CaseWorld {
 public:
  /// Namespace, account and flow; everything else as a node has it by default.
  [[nodiscard]] static CaseOptions options(billing::Flow flow);

  explicit CaseWorld(CaseOptions options);
  /// A case that was not audited is no case.
  ~CaseWorld();
  CaseWorld(const CaseWorld&) = delete;
  CaseWorld& operator=(const CaseWorld&) = delete;

  // --- time ---
  [[nodiscard]] Timestamp now() const { return now_; }
  /// Everything that is due by then happens, in its order.
  void run_until(Timestamp end);
  void run_for(std::chrono::milliseconds time) { run_until(now_.plus(time)); }
  /// Done at that time, between other things.
  void at(Timestamp when, std::function<void()> action);
  void after(std::chrono::milliseconds delay, std::function<void()> action) {
    at(now_.plus(delay), std::move(action));
  }

  // --- commands ---
  [[nodiscard]] static billing::BillCustomer bill_of(const std::string& customer,
                                                     const std::string& period,
                                                     std::int64_t minor = 9'900,
                                                     const std::string& request_id = "r1");
  /// The answer is filled in while the world runs.
  std::shared_ptr<CaseCall> send(billing::BillingCommand command, std::size_t node = 0);
  std::shared_ptr<CaseCall> bill(const std::string& customer, const std::string& period,
                                 std::int64_t minor = 9'900, const std::string& request_id = "r1") {
    return send(bill_of(customer, period, minor, request_id));
  }

  // --- processes ---
  /// The process dies when it comes to this point for the `nth` time from now.
  void crash_at(CrashPoint point, int nth = 1);
  [[nodiscard]] int crashes() const { return crashes_; }
  /// For a store whose transaction was cut in two: whether the process dies between the parts.
  [[nodiscard]] bool dies_inside_claim();
  void kill(std::size_t node = 0);
  void start(std::size_t node = 0);
  void restart(std::size_t node = 0) {
    kill(node);
    start(node);
  }
  /// Another process on the same store. It takes the store when it is started.
  CaseNode& add_node(const std::string& name);
  CaseNode& node(std::size_t index = 0) { return *nodes_[index]; }
  /// It runs beside the first one under the same epoch, as only a mistake in the set-up can do.
  void join(std::size_t node);
  /// Stopped as by a signal: it does nothing and knows nothing of it.
  void pause(std::size_t node) { nodes_[node]->is_paused = true; }
  void go_on(std::size_t node);

  // --- provider ---
  /// Delivers what the provider sends; returns the status of the answer, if there is one.
  void on_webhook(provider::simulator::WebhookSink sink) { webhook_sink_ = std::move(sink); }
  /// A hint that concerns no obligation of ours; false if nobody answered.
  bool send_to_inbox(const std::string& object, billing::StoreHint hint);
  /// Fault rules as in docs/simulator.md: the members of one rule, e.g. R"("kind":"hang")".
  void faults(const std::vector<std::string>& rules);
  void heal() { port_.provider().clear_faults(); }
  SimulatorPort& port() { return port_; }

  // --- store ---
  journal::Journal& journal() { return *journal_; }
  [[nodiscard]] std::unique_ptr<journal::JournalReader> reader() const;
  void set_limit(const std::string& period, std::int64_t minor, const std::string& customer = "");
  /// Closes the SQLite file and opens it again; the process goes on without noticing more.
  void reopen_store();

  // --- judge ---
  [[nodiscard]] static ObligationKey key_of(const std::string& customer, const std::string& period,
                                            const std::string& purpose = "subscription");
  [[nodiscard]] std::optional<ObligationRow> row(const ObligationKey& key) const;
  [[nodiscard]] std::optional<ObligationStatus> status(const std::string& customer,
                                                       const std::string& period) const;
  [[nodiscard]] std::vector<billing::BillingEvent> events(const std::string& customer) const;
  template <class E>
  [[nodiscard]] int count_events(const std::string& customer) const {
    int count = 0;
    for (const auto& event : events(customer)) count += std::holds_alternative<E>(event) ? 1 : 0;
    return count;
  }
  /// Succeeded charges in the provider's ledger.
  [[nodiscard]] int L(const std::string& customer, const std::string& period) const;
  /// POSTs on the wire that could move money for it, and the keys among them.
  [[nodiscard]] int W(const std::string& customer, const std::string& period) const;
  [[nodiscard]] int K(const std::string& customer, const std::string& period) const;
  /// All POSTs on the wire, of every step.
  [[nodiscard]] std::map<ObligationKey, int> posts_by_obligation() const;
  [[nodiscard]] std::vector<ObligationRow> all_rows() const;
  [[nodiscard]] std::vector<std::string> quarantines() const;
  /// Charges that others made on purpose of the case: customer/period/purpose. They may be without
  /// an obligation, or beside its charge.
  std::set<std::string> made_by_others;
  /// What every case must leave behind; empty if it holds. Stored rows against events, charges
  /// against completed obligations, every POST against its durable record, metadata, caps, and
  /// that nothing is left that nobody would see.
  [[nodiscard]] std::string audit();

 private:
  friend class CaseMachine;
  struct Started {
    ObligationKey of;
    billing::RequestStarted event;
    int starts = 0;
  };

  void open_store();
  CaseMachine& machine(CaseNode& node, const PersistenceId& id);
  void deliver(CaseNode& node, const PersistenceId& id, std::any command, ReplyTo to);
  void drain();
  bool step_to(Timestamp end);
  void tick(CaseNode& node);
  void wake(CaseNode& node, const ObligationRow& row);
  [[nodiscard]] std::optional<Timestamp> next_tick(CaseNode& node);
  void drop_idle(CaseNode& node);
  void answer(PortAnswer answer);
  void grant_permits(CaseNode& node);
  void step_down(CaseNode& node);
  void die(CaseNode& node);
  [[nodiscard]] bool reaches(CrashPoint point);
  void replied(ReplyTo to, const std::any& reply);
  void tells(CaseNode& node, const PersistenceId& from, output::Tell tell);
  void loads(CaseNode& node, const PersistenceId& from, const std::any& query);
  void note_call(const ExternalRequest& request);
  void stored();
  void index_requests() const;
  [[nodiscard]] std::optional<Timestamp> earliest_due();
  void audit_posts(std::string& found) const;
  void audit_ledger(std::string& found) const;
  void audit_caps(std::string& found) const;

  CaseOptions options_;
  EntityType billing_type_;
  EntityType inbox_type_ = billing::inbox_entity_type();
  provider::simulator::WebhookSink webhook_sink_;
  int inbox_answers_ = 0;
  SimulatorPort port_;
  std::unique_ptr<journal::Journal> store_;
  std::unique_ptr<journal::Journal> wrapped_;
  journal::Journal* journal_ = nullptr;
  std::vector<std::unique_ptr<CaseNode>> nodes_;
  Timestamp now_;
  std::multimap<Timestamp, std::function<void()>> actions_;
  std::map<std::uint64_t, std::shared_ptr<CaseCall>> calls_;
  std::uint64_t last_call_ = 0;
  std::uint64_t last_process_ = 0;
  std::multimap<CrashPoint, int> armed_;
  int crashes_ = 0;
  bool due_is_known_ = false;
  std::optional<Timestamp> due_;
  mutable std::uint64_t indexed_to_ = 0;
  mutable std::map<std::string, Started> started_;  // by key
  std::set<PersistenceId> quarantined_;
  std::set<std::string> early_posts_;  // keys that left before they were recorded
  std::string broken_;
  bool has_limit_ = false;
  std::set<BillingPeriod> periods_;  // with a limit
  bool is_audited_ = false;
};

}  // namespace onceward::testing

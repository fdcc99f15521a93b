// Scenario: what is tried. An entity type, the commands it gets, what may go wrong and how often,
// and the oracles that judge. A value; one scenario is run under many schedules.
#pragma once

#include <any>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <onceward/harness/oracle.hpp>

namespace onceward::harness {

/// Counts of one schedule, or sums over many.
struct Counts {
  std::uint64_t steps = 0;
  std::uint64_t crash_points = 0;  ///< places where the process could have died
  std::uint64_t crashes = 0;
  std::uint64_t ambiguities = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t lost_replies = 0;
  std::uint64_t provider_faults = 0;
  std::uint64_t takeovers = 0;
  std::uint64_t switches = 0;
  std::uint64_t permit_waits = 0;

  void add(const Counts& other) noexcept;
  /// Faults of all kinds; switches and waits are none.
  [[nodiscard]] std::uint64_t faults() const noexcept;
};

/// How often each kind of fault may happen in one schedule. A schedule never exceeds any of them.
struct FaultBounds {
  int crashes = 0;      ///< the process dies, at any durable step, send, answer or reply
  int ambiguities = 0;  ///< commits whose answer is unknown, stored or not
  int duplicates = 0;   ///< commands sent again, at any step
  int lost_replies = 0;
  int provider_faults = 0;  ///< requests that meet one of `fates`
  int takeovers = 0;     ///< the owner freezes with all it has in memory; another node takes over
  int switches = 0;      ///< turns to another entity while one still has work
  int permit_waits = 0;  ///< steps at which no provider permit is free
  std::vector<Fate> fates;
  /// How long the process stays down after a crash; one is chosen each time. Beyond the provider's
  /// memory of keys, a key has expired meanwhile.
  std::vector<std::chrono::milliseconds> downtimes = {std::chrono::milliseconds{0}};
};

/// A command and who gets it.
struct Ask {
  std::size_t entity = 0;  ///< index into Scenario::entities
  std::any command;        ///< exactly the entity type's Command
  std::string text;        ///< for people
};

/// Guards of the journal that a scenario can take out, to prove that the oracles notice.
struct JournalWeakening {
  bool claim = false;  ///< a claim of an existing row overwrites it
  bool epoch = false;  ///< an older epoch may write
  friend bool operator==(const JournalWeakening&, const JournalWeakening&) = default;
};

/// Something that must happen in at least one schedule, else the scenario proves nothing about it.
struct Sometimes {
  std::string label;
  std::function<bool(const Truth&, const Counts&)> holds;  ///< asked when a schedule has ended
};

struct Scenario {
  std::string name;  ///< `[a-z0-9-]+`
  std::string says;  ///< one sentence
  EntityType type;
  std::vector<PersistenceId> entities;
  std::vector<Ask> asks;  ///< sent in this order, each as soon as the one before is recorded
  FaultBounds faults;
  std::function<std::unique_ptr<ProviderModel>()> provider;
  std::function<Oracles()> oracles;
  std::function<ReplyFacts(const std::any& reply)> read_reply;
  /// Stored before the first command, e.g. limits of a spend cap; epoch and shard are filled in.
  std::vector<CommitUnit> stored_before;
  JournalWeakening without;
  std::vector<Sometimes> sometimes;
  /// The command that brings the reply of a Tell back; needed if the entity tells others.
  std::function<std::any(std::uint64_t correlation, const std::any& reply)> tell_result;

  /// Obligation rows wake their entity when they are due. An entity without rows is woken this
  /// often instead, until a wake brings nothing new; 0: never.
  std::chrono::milliseconds wake_every{0};
  /// Once faults have ended, all must rest within this virtual time.
  std::chrono::milliseconds rest_within = std::chrono::hours{24 * 21};
  Timestamp starts_at{1'788'220'800'000};  // 2026-09-01T00:00:00Z
};

/// The first thing that is missing or contradicts itself; empty if the scenario can be run.
[[nodiscard]] std::string problem_of(const Scenario& scenario);

}  // namespace onceward::harness

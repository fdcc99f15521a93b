// Oracle: one invariant, watched from outside. It sees what the world sees (commits, sends,
// answers, replies, recoveries) and the two truths, journal and ledger; never the entity's memory.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/machine.hpp>
#include <onceward/harness/provider_model.hpp>
#include <onceward/journal/journal.hpp>

namespace onceward::harness {

/// The first invariant that did not hold.
struct Violation {
  std::string invariant;  ///< e.g. "I1"
  std::string says;       ///< the invariant in words
  std::string what;       ///< what was seen
  friend bool operator==(const Violation&, const Violation&) = default;
};

/// What a reply claims, read by the scenario from the entity's own reply type.
struct ReplyFacts {
  enum class Claim : std::uint8_t {
    ask_again,  ///< no answer: the caller asks again with the same command
    open,       ///< recorded; says nothing of the end
    charged,    ///< says that the effect took place, as `charge`
    free,       ///< says that it did not take place
    refused,    ///< not recorded, and asking again would not help
  };
  Claim claim = Claim::open;
  std::string subject;
  std::string charge;
  std::string text;  ///< for people
};

/// What is true at this moment. Borrowed; valid during the call only.
struct Truth {
  const ProviderModel& provider;
  /// Null while a commit is uncertain: nothing can be read then.
  journal::JournalReader* journal = nullptr;
  const std::vector<PersistenceId>& entities;
  Timestamp now;
};

/// A commit as it was answered. `stored`: it is in the journal, whatever the answer said.
struct CommitSeen {
  const CommitUnit& unit;
  const CommitAnswer& answer;
  bool stored = false;
  /// The node that asked owns the entity; false for one that was taken over meanwhile.
  bool by_owner = true;
};
struct SendSeen {
  const PersistenceId& entity;
  const ExternalRequest& request;
};
struct AnswerSeen {
  const PersistenceId& entity;
  const ExternalRequest& request;
  const ExternalAnswer& answer;
};
struct ReplySeen {
  const PersistenceId& entity;
  std::size_t ask = 0;  ///< index of the command in the scenario
  ReplyFacts facts;
};
struct RecoverySeen {
  const PersistenceId& entity;
  journal::HistoryEnd end;
};

/// Holds its own memory only. Copies are made with the world's: clone() keeps what was seen.
class Oracle {
 public:
  virtual ~Oracle() = default;
  [[nodiscard]] virtual std::unique_ptr<Oracle> clone() const = 0;
  /// Short name and the invariant in words.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view says() const = 0;

  virtual void committed(const CommitSeen& /*seen*/, const Truth& /*truth*/) {}
  virtual void sending(const SendSeen& /*seen*/, const Truth& /*truth*/) {}
  virtual void answered(const AnswerSeen& /*seen*/, const Truth& /*truth*/) {}
  virtual void replied(const ReplySeen& /*seen*/, const Truth& /*truth*/) {}
  virtual void recovered(const RecoverySeen& /*seen*/, const Truth& /*truth*/) {}
  /// Faults have ended and everything has come to rest.
  virtual void at_rest(const Truth& /*truth*/) {}
  /// Of what it remembers and neither journal nor ledger shows. Two worlds that differ in it are
  /// not taken for the same.
  [[nodiscard]] virtual std::uint64_t memory_hash() const { return 0; }

  /// What was broken first; empty if nothing was.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }

 protected:
  void broke(std::string what) {
    if (broken_.empty()) broken_ = std::move(what);
  }

 private:
  std::string broken_;
};

/// A set of oracles with value semantics.
class Oracles {
 public:
  Oracles() = default;
  Oracles(const Oracles& other);
  Oracles& operator=(const Oracles& other);
  Oracles(Oracles&&) noexcept = default;
  Oracles& operator=(Oracles&&) noexcept = default;
  ~Oracles() = default;

  void add(std::unique_ptr<Oracle> oracle) { all_.push_back(std::move(oracle)); }
  template <class O, class... Args>
  Oracles& with(Args&&... args) {
    add(std::make_unique<O>(std::forward<Args>(args)...));
    return *this;
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

 private:
  std::vector<std::unique_ptr<Oracle>> all_;
};

}  // namespace onceward::harness

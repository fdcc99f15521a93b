// The oracles that hold for any entity with effects that cannot be taken back. Those that know
// billing are in billing_oracles.hpp. Names are those of docs/harness.md.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <onceward/harness/oracle.hpp>

namespace onceward::harness {

/// Implements clone() by copy.
template <class Derived>
class CopyableOracle : public Oracle {
 public:
  [[nodiscard]] std::unique_ptr<Oracle> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// I1: the ledger holds at most one effect per subject.
class AtMostOnce final : public CopyableOracle<AtMostOnce> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I1"; }
  [[nodiscard]] std::string_view says() const override {
    return "For every subject at most one effect takes place at the provider.";
  }
  void answered(const AnswerSeen& seen, const Truth& truth) override { look(seen.entity, truth); }
  void at_rest(const Truth& truth) override { look(PersistenceId{"the end"}, truth); }

 private:
  void look(const PersistenceId& where, const Truth& truth);
};

/// I2: the key of a request is in the journal before its first byte leaves.
class DurableBeforeTheWire final : public CopyableOracle<DurableBeforeTheWire> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I2"; }
  [[nodiscard]] std::string_view says() const override {
    return "No request leaves before the event that records it is durable.";
  }
  void sending(const SendSeen& seen, const Truth& truth) override;
};

/// I3: all sends of one key are the same request.
class SameRequestPerKey final : public CopyableOracle<SameRequestPerKey> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I3"; }
  [[nodiscard]] std::string_view says() const override {
    return "All sends under one key are identical, across restarts and nodes.";
  }
  void sending(const SendSeen& seen, const Truth& truth) override;
  [[nodiscard]] std::uint64_t memory_hash() const override;

 private:
  std::map<std::string, std::string> wire_;
};

/// I6: a reply claims only what is true then.
class RepliesAreTrue final : public CopyableOracle<RepliesAreTrue> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I6"; }
  [[nodiscard]] std::string_view says() const override {
    return "A reply never lies: charged only with exactly that charge in the ledger, free only "
           "without one.";
  }
  void replied(const ReplySeen& seen, const Truth& truth) override;
};

/// I7: numbers without gap, epochs that never fall, one chain.
class HistoriesAreWhole final : public CopyableOracle<HistoriesAreWhole> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I7"; }
  [[nodiscard]] std::string_view says() const override {
    return "A history is gapless, append-only and in one chain; its epochs never fall.";
  }
  void at_rest(const Truth& truth) override;
};

/// I8: what was acknowledged as stored is there in every later recovery.
class AcknowledgedIsKept final : public CopyableOracle<AcknowledgedIsKept> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I8"; }
  [[nodiscard]] std::string_view says() const override {
    return "Every acknowledged event is replayed after any crash.";
  }
  void committed(const CommitSeen& seen, const Truth& truth) override;
  void recovered(const RecoverySeen& seen, const Truth& truth) override;

 private:
  std::map<std::string, std::uint64_t> last_;
};

/// I12: when all is at rest, rows and ledger agree both ways.
class RowsMatchTheLedger final : public CopyableOracle<RowsMatchTheLedger> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I12"; }
  [[nodiscard]] std::string_view says() const override {
    return "At rest every completed obligation has its charge in the ledger and every charge its "
           "obligation; nothing accepted is left open but what an operator sees.";
  }
  void at_rest(const Truth& truth) override;
};

/// I15: only the present owner stores.
class OneWriter final : public CopyableOracle<OneWriter> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I15"; }
  [[nodiscard]] std::string_view says() const override {
    return "Nothing is stored by a node that was taken over.";
  }
  void committed(const CommitSeen& seen, const Truth& truth) override;
};

/// With one writer the guards of the journal never have to act: the entity knows by itself.
class JournalGuardsRest final : public CopyableOracle<JournalGuardsRest> {
 public:
  [[nodiscard]] std::string_view name() const override { return "claims"; }
  [[nodiscard]] std::string_view says() const override {
    return "No claim of a row that exists is ever asked for, nor is an owner's unit out of order: "
           "the entity's own guards come first.";
  }
  void committed(const CommitSeen& seen, const Truth& truth) override;
};

/// Oracles that every scenario should have.
[[nodiscard]] Oracles standard_oracles();

}  // namespace onceward::harness

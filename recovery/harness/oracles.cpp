// Each oracle looks at what happened and at the two truths only.
#include <onceward/harness/oracles.hpp>

#include <algorithm>

#include "recovery/harness/hash.hpp"

namespace onceward::harness {
namespace {

std::string text_of(const ExternalRequest& request) {
  std::string text = std::string(to_text(request.operation)) + " " + request.target;
  for (const auto& [name, value] : request.params) text += "&" + name + "=" + value;
  return text;
}

std::size_t charges_of(const ProviderModel& provider, const std::string& subject,
                       const std::string& charge) {
  const auto& ledger = provider.ledger();
  return static_cast<std::size_t>(std::count_if(ledger.begin(), ledger.end(), [&](const auto& row) {
    return row.subject == subject && (charge.empty() || row.charge == charge);
  }));
}

}  // namespace

void AtMostOnce::look(const PersistenceId& where, const Truth& truth) {
  const auto& ledger = truth.provider.ledger();
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    for (std::size_t j = i + 1; j < ledger.size(); ++j) {
      if (ledger[i].subject != ledger[j].subject) continue;
      return broke(ledger[i].subject + " took effect twice, as " + ledger[i].charge + " and " +
                   ledger[j].charge + ", seen at " + where.value());
    }
  }
}

void DurableBeforeTheWire::sending(const SendSeen& seen, const Truth& truth) {
  if (is_look_up(seen.request.operation) || truth.journal == nullptr) return;
  bool found = false;
  (void)truth.journal->replay(
      seen.entity, SequenceNr{}, [&](const PersistenceId&, StoredEvent&& e) {
        found = e.event.payload.find(seen.request.key.value()) != std::string::npos;
        return !found;
      });
  if (!found)
    broke(text_of(seen.request) + " leaves, but no stored event of " + seen.entity.value() +
          " holds its key " + seen.request.key.value());
}

void SameRequestPerKey::sending(const SendSeen& seen, const Truth& /*truth*/) {
  if (is_look_up(seen.request.operation)) return;
  const std::string wire = text_of(seen.request);
  const auto [at, is_new] = wire_.emplace(seen.request.key.value(), wire);
  if (!is_new && at->second != wire) {
    broke("key " + at->first + " was sent with two requests: " + at->second + " / " + wire);
  }
}

std::uint64_t SameRequestPerKey::memory_hash() const {
  Hash h;
  for (const auto& [key, wire] : wire_) h.add(key).add(wire);
  return h.value();
}

void RepliesAreTrue::replied(const ReplySeen& seen, const Truth& truth) {
  using Claim = ReplyFacts::Claim;
  const ReplyFacts& facts = seen.facts;
  const std::size_t all = charges_of(truth.provider, facts.subject, "");
  if (facts.claim == Claim::charged &&
      (all != 1 || charges_of(truth.provider, facts.subject, facts.charge) != 1)) {
    broke("`" + facts.text + "` was told, but the ledger holds " + std::to_string(all) +
          " effects of " + facts.subject);
  }
  if (facts.claim == Claim::free && all != 0) {
    broke("`" + facts.text + "` was told, but " + facts.subject + " took effect");
  }
}

void HistoriesAreWhole::at_rest(const Truth& truth) {
  if (truth.journal == nullptr) return broke("the journal is still uncertain");
  for (const auto& id : truth.entities) {
    std::uint64_t last = 0;
    Epoch epoch;
    const auto end = truth.journal->replay(id, SequenceNr{}, [&](const auto&, StoredEvent&& event) {
      if (event.sequence_nr.value != last + 1) broke("a gap in " + id.value());
      if (event.epoch < epoch) broke("an epoch fell in " + id.value());
      last = event.sequence_nr.value;
      epoch = event.epoch;
      return true;
    });
    if (!end) broke(end.error().context);
  }
}

void AcknowledgedIsKept::committed(const CommitSeen& seen, const Truth& /*truth*/) {
  const auto* stored = std::get_if<Stored>(&seen.answer);
  if (stored != nullptr) last_[seen.unit.persistence_id.value()] = stored->last.value;
}

void AcknowledgedIsKept::recovered(const RecoverySeen& seen, const Truth& /*truth*/) {
  const auto found = last_.find(seen.entity.value());
  if (found != last_.end() && seen.end.last.value < found->second) {
    broke(seen.entity.value() + " was acknowledged up to event " + std::to_string(found->second) +
          ", recovered only up to " + std::to_string(seen.end.last.value));
  }
}

void RowsMatchTheLedger::at_rest(const Truth& truth) {
  if (truth.journal == nullptr) return broke("the journal is still uncertain");
  std::set<std::string> subjects;
  for (const auto& id : truth.entities) {
    const auto customer = customer_of(id);
    if (!customer) continue;
    const auto rows = truth.journal->rows_of(*customer);
    if (!rows) return broke(rows.error().context);
    for (const auto& row : *rows) {
      const std::string subject = to_display(row.key);
      subjects.insert(subject);
      const std::size_t all = charges_of(truth.provider, subject, "");
      const std::string is = subject + " ended as " + std::string(to_text(row.status));
      if (row.status == ObligationStatus::completed) {
        if (all != 1 || charges_of(truth.provider, subject, row.charge_id) != 1) {
          broke(is + " as " + row.charge_id + ", which is not its one charge in the ledger");
        }
      } else if (is_open(row.status) && !is_operator_owned(row.status)) {
        broke(is + ", which is neither closed nor in an operator's hands");
      } else if (all != 0 && row.status != ObligationStatus::parked) {
        broke(is + ", but it was charged");
      }
    }
  }
  for (const auto& row : truth.provider.ledger()) {
    if (subjects.count(row.subject) == 0) broke("an orphan in the ledger: " + row.subject);
  }
}

void OneWriter::committed(const CommitSeen& seen, const Truth& /*truth*/) {
  if (seen.stored && !seen.by_owner) {
    broke("a frozen node stored " + std::to_string(seen.unit.events.size()) + " events of " +
          seen.unit.persistence_id.value() + " under epoch " +
          std::to_string(seen.unit.epoch.value) + " after it was taken over");
  }
}

void JournalGuardsRest::committed(const CommitSeen& seen, const Truth& /*truth*/) {
  if (!seen.by_owner) return;
  if (const auto* claim = std::get_if<ClaimRefused>(&seen.answer)) {
    broke("a claim of " + to_display(claim->existing.key) +
          " was refused: its entity had forgotten it");
  }
  const auto* fenced = std::get_if<Fenced>(&seen.answer);
  if (fenced != nullptr && fenced->by == Fenced::By::sequence) {
    broke("a unit of " + seen.unit.persistence_id.value() + " was out of order");
  }
}

Oracles standard_oracles() {
  Oracles all;
  all.with<AtMostOnce>().with<DurableBeforeTheWire>().with<SameRequestPerKey>();
  all.with<RepliesAreTrue>().with<HistoriesAreWhole>().with<AcknowledgedIsKept>();
  return all;
}

}  // namespace onceward::harness

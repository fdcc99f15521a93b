// How one unit is checked against and written into the maps of a MemoryJournal.
#include "journal/memory_store.hpp"

#include <algorithm>

#include "journal/history.hpp"
#include "journal/refusals.hpp"

namespace onceward::journal {
namespace {

class MemoryCapLookup final : public CapLookup {
 public:
  explicit MemoryCapLookup(const MemoryCaps& caps) : caps_(caps) {}

  Result<std::optional<CapReservation>> reservation(const ObligationKey& key,
                                                    std::uint32_t attempt) override {
    const auto found = caps_.reservations.find(
        std::tie(key.period.text(), key.customer.value(), key.purpose.value(), attempt));
    if (found == caps_.reservations.end()) return std::optional<CapReservation>();
    return std::optional<CapReservation>(found->second);
  }
  Result<std::optional<std::int64_t>> limit(const BillingPeriod& period, const CustomerId& customer,
                                            const Currency& currency) override {
    const auto found = caps_.limits.find(std::tie(period.text(), currency, customer.value()));
    if (found == caps_.limits.end()) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>(found->second);
  }
  Result<CapSum> use(const BillingPeriod& period, const CustomerId& customer,
                     const Currency& currency) override {
    return caps_.use(period.text(), customer.value(), currency);
  }

 private:
  const MemoryCaps& caps_;
};

}  // namespace

CapSum MemoryCaps::use(const std::string& period, const std::string& customer,
                       const Currency& currency) const {
  if (customer.empty()) {
    const auto found = totals.find(std::tie(period, currency, customer));
    return found == totals.end() ? CapSum{} : found->second;
  }
  CapSum sum;
  for (auto at = reservations.lower_bound(ReservationKey(period, customer, "", 0));
       at != reservations.end() && std::get<0>(at->first) == period &&
       std::get<1>(at->first) == customer;
       ++at) {
    const CapReservation& entry = at->second;
    if (entry.amount.currency != currency) continue;
    const bool is_reserved = entry.state == CapReservation::State::reserved;
    (is_reserved ? sum.reserved_minor : sum.settled_minor) += entry.amount.minor;
  }
  return sum;
}

Epoch MemoryStore::next_epoch() const {
  return Epoch{std::max_element(epochs.begin(), epochs.end())->value + 1};
}

std::optional<CommitAnswer> MemoryStore::refusal_of(const CommitUnit& unit) const {
  if (unit.epoch != epochs[unit.shard.value]) return Fenced{Fenced::By::epoch};

  const auto history = histories->find(unit.persistence_id.value());
  const bool is_known = history != histories->end();
  if (unit.expected != (is_known ? history->second->last : SequenceNr{}) ||
      unit.head != (is_known ? history->second->head : Digest{})) {
    return Fenced{Fenced::By::sequence};
  }
  for (const RowWrite& write : unit.rows) {
    const auto row = rows->find(write.row.key);
    if (write.kind == RowWrite::Kind::claim && row != rows->end()) {
      return ClaimRefused{row->second->row};
    }
    if (write.kind == RowWrite::Kind::update && row == rows->end()) {
      return InvalidUnit{absent_row_error(unit, write.row.key)};
    }
  }
  for (const Mark& mark : unit.marks) {
    const auto found = marks->find({mark.scope, mark.key});
    if (found != marks->end() && is_alive(found->second, unit.at)) {
      return MarkRefused{found->second};
    }
  }
  return std::nullopt;
}

CommitAnswer MemoryStore::apply(const CommitUnit& unit) {
  if (auto refusal = refusal_of(unit)) return std::move(*refusal);
  MemoryCapLookup ledger(*caps);
  CapPlan plan = plan_caps(unit, ledger).value();  // look-ups in memory do not fail
  if (auto* refused = std::get_if<CapRefused>(&plan)) return std::move(*refused);
  if (auto* invalid = std::get_if<InvalidUnit>(&plan)) return std::move(*invalid);

  write_caps(unit, std::get<CapChanges>(plan));
  for (const RowWrite& write : unit.rows) {
    rows.edit()[write.row.key] = std::make_shared<MemoryRow>(MemoryRow{write.row, unit.epoch});
  }
  for (const RefundRow& row : unit.refunds) refunds.edit()[{row.obligation, row.number}] = row;
  for (const Mark& mark : unit.marks) marks.edit()[{mark.scope, mark.key}] = mark;
  return append(unit);
}

Stored MemoryStore::append(const CommitUnit& unit) {
  if (unit.events.empty() && !unit.snapshot) return Stored{unit.expected, unit.head};
  MemoryHistory& history = histories.edit()[unit.persistence_id.value()].edit();
  for (std::size_t index = 0; index < unit.events.size(); ++index) {
    history.head = head_after(history.head, unit, index);
    history.last = history.last.plus(1);
    history.events.push_back(std::make_shared<MemoryEvent>(
        MemoryEvent{++last_position, StoredEvent{history.last, unit.events[index], unit.epoch,
                                                 unit.writer, unit.at, history.head}}));
  }
  if (unit.snapshot) {
    history.snapshot = std::make_shared<StoredSnapshot>(
        StoredSnapshot{history.last, history.head, *unit.snapshot});
  }
  return Stored{history.last, history.head};
}

void MemoryStore::write_caps(const CommitUnit& unit, const CapChanges& changes) {
  if (unit.limits.empty() && unit.caps.empty()) return;
  MemoryCaps& ledger = caps.edit();
  for (const CapLimit& limit : unit.limits) {
    ledger.limits[{limit.period.text(), limit.limit.currency, limit.customer.value()}] =
        limit.limit.minor;
  }
  for (const CapChanges::Reservation& entry : changes.reservations) {
    MemoryCaps::ReservationKey key{entry.key->period.text(), entry.key->customer.value(),
                                   entry.key->purpose.value(), entry.attempt};
    if (entry.now) {
      ledger.reservations[std::move(key)] = *entry.now;
    } else {
      ledger.reservations.erase(key);
    }
  }
  for (const CapChanges::Total& total : changes.totals) {
    ledger.totals[{total.period->text(), total.currency, std::string()}] = total.now;
  }
}

}  // namespace onceward::journal

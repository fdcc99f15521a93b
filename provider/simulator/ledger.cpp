// Implementation of Ledger.
#include <onceward/provider/simulator/ledger.hpp>

#include <map>
#include <utility>

namespace onceward::provider::simulator {
namespace {

using Field = std::string LedgerRow::*;

Field field_of(std::string_view name) noexcept {
  if (name == "namespace") return &LedgerRow::name_space;
  if (name == "customer") return &LedgerRow::customer;
  if (name == "period") return &LedgerRow::period;
  if (name == "purpose") return &LedgerRow::purpose;
  if (name == "payment_intent") return &LedgerRow::payment_intent;
  if (name == "charge") return &LedgerRow::charge;
  if (name == "currency") return &LedgerRow::currency;
  if (name == "key") return &LedgerRow::key;
  return nullptr;
}

}  // namespace

const LedgerRow& Ledger::append(LedgerRow row) {
  row.seq = rows_.size() + 1;
  rows_.push_back(std::move(row));
  return rows_.back();
}

const LedgerRow& Ledger::append_refund(LedgerRow row) {
  row.seq = refunds_.size() + 1;
  refunds_.push_back(std::move(row));
  return refunds_.back();
}

Result<Unit> Ledger::restore(LedgerRow row) {
  auto& rows = row.refund.empty() ? rows_ : refunds_;
  if (row.seq != rows.size() + 1) {
    return fail(ErrorCode::store_corrupt, "ledger row " + std::to_string(row.seq) + " where " +
                                              std::to_string(rows.size() + 1) + " was expected");
  }
  rows.push_back(std::move(row));
  return ok();
}

std::vector<LedgerRow> Ledger::find(std::string_view customer, std::string_view period) const {
  std::vector<LedgerRow> found;
  for (const LedgerRow& row : rows_) {
    const bool customer_fits = customer.empty() || row.customer == customer;
    if (customer_fits && (period.empty() || row.period == period)) found.push_back(row);
  }
  return found;
}

Result<std::vector<LedgerOffender>> Ledger::groups_above(const std::vector<std::string>& fields,
                                                         std::size_t max) const {
  std::vector<Field> members;
  for (const std::string& name : fields) {
    members.push_back(field_of(name));
    if (members.back() == nullptr) {
      return fail(ErrorCode::invalid_argument,
                  "cannot group the ledger by \"" + name +
                      "\"; use namespace, customer, period, purpose, payment_intent, charge, "
                      "currency or key");
    }
  }
  if (members.empty()) return fail(ErrorCode::invalid_argument, "no field to group the ledger by");
  std::map<std::vector<std::string>, std::vector<std::string>> groups;
  for (const LedgerRow& row : rows_) {
    std::vector<std::string> group;
    for (const Field member : members) group.push_back(row.*member);
    groups[std::move(group)].push_back(row.charge);
  }
  std::vector<LedgerOffender> offenders;
  for (auto& [group, charges] : groups) {
    if (charges.size() > max) offenders.push_back({group, std::move(charges)});
  }
  return offenders;
}

}  // namespace onceward::provider::simulator

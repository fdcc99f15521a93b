// Look-ups and writes of the spend-cap ledger; its arithmetic is in cap_book.cpp.
#include "journal/sqlite/cap_tables.hpp"

namespace onceward::journal::sqlite {
namespace {

constexpr std::string_view reserved_text = "reserved";
constexpr std::string_view settled_text = "settled";

std::string_view text_of(CapReservation::State state) {
  return state == CapReservation::State::reserved ? reserved_text : settled_text;
}

}  // namespace

Result<std::optional<CapReservation>> CapTables::reservation(const ObligationKey& key,
                                                             std::uint32_t attempt) {
  auto& find = *statements_.find_reservation;
  find.bind(key.period.text(), key.customer.value(), key.purpose.value(), attempt);
  const auto found = has_row(find);
  if (!found.has_value()) return Unexpected{found.error()};
  if (!*found) return std::optional<CapReservation>();
  const std::string_view state = find.text(0);
  const auto currency = Currency::parse(find.text(2));
  if (!currency.has_value() || (state != reserved_text && state != settled_text)) {
    find.reset();
    return fail(ErrorCode::store_corrupt, "cap reservation of " + to_display(key) + " is damaged");
  }
  const CapReservation entry{
      state == reserved_text ? CapReservation::State::reserved : CapReservation::State::settled,
      Money{find.integer(1), *currency}};
  find.reset();
  return std::optional(entry);
}

Result<std::optional<std::int64_t>> CapTables::stored_limit(const std::string& period,
                                                            const Currency& currency,
                                                            const std::string& customer) {
  auto& find = *statements_.find_limit;
  find.bind(period, currency.text(), customer);
  const auto found = has_row(find);
  if (!found.has_value()) return Unexpected{found.error()};
  std::optional<std::int64_t> limit;
  if (*found) limit = find.integer(0);
  find.reset();
  return limit;
}

Result<CapTables::Total*> CapTables::total(const BillingPeriod& period, const Currency& currency) {
  for (Total& known : totals_) {
    if (known.currency == currency && known.period == period.text()) return &known;
  }
  Total loaded{period.text(), currency, {}, std::nullopt, false, false};
  auto& find = *statements_.find_total;
  const auto found = has_row(find.bind(loaded.period, currency.text()));
  if (!found.has_value()) return Unexpected{found.error()};
  if (*found) loaded.sum = {find.integer(0), find.integer(1)};
  find.reset();
  const auto limit = stored_limit(loaded.period, currency, std::string());
  if (!limit.has_value()) return Unexpected{limit.error()};
  loaded.limit = *limit;
  auto& any = *statements_.has_customer_limits;
  const auto has_any = has_row(any.bind(loaded.period, currency.text()));
  if (!has_any.has_value()) return Unexpected{has_any.error()};
  loaded.has_customer_limits = *has_any;
  any.reset();
  totals_.push_back(std::move(loaded));
  return &totals_.back();
}

Result<std::optional<std::int64_t>> CapTables::limit(const BillingPeriod& period,
                                                     const CustomerId& customer,
                                                     const Currency& currency) {
  const auto known = total(period, currency);
  if (!known.has_value()) return Unexpected{known.error()};
  if (customer.value().empty()) return (*known)->limit;
  if (!(*known)->has_customer_limits) return std::optional<std::int64_t>();
  return stored_limit(period.text(), currency, customer.value());
}

Result<CapSum> CapTables::use(const BillingPeriod& period, const CustomerId& customer,
                              const Currency& currency) {
  if (customer.value().empty()) {
    const auto known = total(period, currency);
    if (!known.has_value()) return Unexpected{known.error()};
    return (*known)->sum;
  }
  auto& sum = *statements_.customer_use;
  const auto found = has_row(sum.bind(period.text(), customer.value(), currency.text()));
  if (!found.has_value()) return Unexpected{found.error()};
  const CapSum use{sum.integer(0), sum.integer(1)};
  sum.reset();
  return use;
}

Result<Unit> CapTables::write_limit(const CapLimit& limit) {
  const auto& customer = limit.customer.value();
  auto written =
      statements_.put_limit
          ->bind(limit.period.text(), limit.limit.currency.text(), customer, limit.limit.minor)
          .run();
  if (!written.has_value()) return written;
  const auto known = total(limit.period, limit.limit.currency);
  if (!known.has_value()) return Unexpected{known.error()};
  if (customer.empty()) {
    (*known)->limit = limit.limit.minor;
  } else {
    (*known)->has_customer_limits = true;
  }
  return ok();
}

Result<Unit> CapTables::write_reservation(const CapChanges::Reservation& entry) {
  if (entry.now == entry.before) return ok();
  const ObligationKey& key = *entry.key;
  if (!entry.now) {
    return statements_.erase_reservation
        ->bind(key.period.text(), key.customer.value(), key.purpose.value(), entry.attempt)
        .run();
  }
  auto& put = entry.before ? *statements_.update_reservation : *statements_.insert_reservation;
  return put
      .bind(key.period.text(), key.customer.value(), key.purpose.value(), entry.attempt,
            text_of(entry.now->state), entry.now->amount.minor, entry.now->amount.currency.text())
      .run();
}

Result<Unit> CapTables::write(const CommitUnit& unit, const CapChanges& changes) {
  for (const CapLimit& limit : unit.limits) {
    if (auto written = write_limit(limit); !written.has_value()) return written;
  }
  for (const CapChanges::Reservation& entry : changes.reservations) {
    if (auto written = write_reservation(entry); !written.has_value()) return written;
  }
  for (const CapChanges::Total& change : changes.totals) {
    const auto known = total(*change.period, change.currency);
    if (!known.has_value()) return Unexpected{known.error()};
    (*known)->sum = change.now;
    (*known)->is_changed = true;
  }
  return ok();
}

Result<Unit> CapTables::flush() {
  for (Total& known : totals_) {
    if (!known.is_changed) continue;
    auto written = statements_.put_total
                       ->bind(known.period, known.currency.text(), known.sum.reserved_minor,
                              known.sum.settled_minor)
                       .run();
    if (!written.has_value()) return written;
    known.is_changed = false;
  }
  if (totals_.size() > totals_max) totals_.clear();
  return ok();
}

}  // namespace onceward::journal::sqlite

// Plans a unit's cap operations over an overlay of the buckets and reservations it touches; a unit
// touches very few, so they are searched linearly.
#include "journal/cap_book.hpp"

#include <string>

namespace onceward::journal {
namespace {

struct Bucket {
  const BillingPeriod* period = nullptr;
  const CustomerId* customer = nullptr;  // null: the period's total
  Currency currency;
  std::optional<std::int64_t> limit;
  CapSum sum;  // of a customer: only kept while he has a limit
  bool is_changed = false;
};

bool add_overflows(std::int64_t& to, std::int64_t amount) {
  return __builtin_add_overflow(to, amount, &to);
}

/// Used amount of a bucket; sums are kept such that this cannot overflow.
std::int64_t used(const CapSum& sum) {
  return sum.reserved_minor + sum.settled_minor;
}

class CapPlanner {
 public:
  CapPlanner(const CommitUnit& unit, CapLookup& ledger) : unit_(unit), ledger_(ledger) {}

  Result<CapPlan> plan() {
    for (const CapLimit& limit : unit_.limits) {
      if (!set_limit(limit)) return answer();
    }
    for (const CapOp& op : unit_.caps) {
      if (!run(op)) return answer();
    }
    for (const Bucket& bucket : buckets_) {
      if (bucket.customer == nullptr && bucket.is_changed) {
        changes_.totals.push_back({bucket.period, bucket.currency, bucket.sum});
      }
    }
    return CapPlan(std::move(changes_));
  }

 private:
  Result<CapPlan> answer() {
    if (error_) return Unexpected{std::move(*error_)};
    return std::move(*refusal_);
  }

  template <class T>
  bool take(Result<T> found, T& into) {
    if (found.has_value()) {
      into = std::move(found).value();
      return true;
    }
    error_ = std::move(found).error();
    return false;
  }

  /// The bucket with what the store holds; null after a failed look-up. Valid until the next call.
  Bucket* bucket(const BillingPeriod& period, const CustomerId* customer,
                 const Currency& currency) {
    for (Bucket& known : buckets_) {
      const bool is_same_customer = customer == nullptr || known.customer == nullptr
                                        ? customer == known.customer
                                        : *customer == *known.customer;
      if (is_same_customer && *known.period == period && known.currency == currency) return &known;
    }
    static const CustomerId total_of_period;
    const CustomerId& name = customer == nullptr ? total_of_period : *customer;
    Bucket loaded{&period, customer, currency, std::nullopt, {}, false};
    if (!take(ledger_.limit(period, name, currency), loaded.limit)) return nullptr;
    // Without a limit nobody asks for a customer's use, and none can appear later in the unit.
    if (customer == nullptr || loaded.limit) {
      if (!take(ledger_.use(period, name, currency), loaded.sum)) return nullptr;
    }
    return &buckets_.emplace_back(loaded);
  }

  bool set_limit(const CapLimit& limit) {
    const bool is_total = limit.customer.value().empty();
    const Currency& currency = limit.limit.currency;
    Bucket* const found = bucket(limit.period, is_total ? nullptr : &limit.customer, currency);
    if (found == nullptr) return false;
    if (!is_total && !found->limit &&
        !take(ledger_.use(limit.period, limit.customer, currency), found->sum)) {
      return false;
    }
    if (limit.limit.minor < used(found->sum)) {
      refusal_ = CapRefused{limit.period, limit.customer, limit.limit, used(found->sum), 0};
      return false;
    }
    found->limit = limit.limit.minor;
    return true;
  }

  CapChanges::Reservation* reservation(const CapOp& op) {
    for (CapChanges::Reservation& known : changes_.reservations) {
      if (known.attempt == op.attempt && *known.key == op.obligation) return &known;
    }
    std::optional<CapReservation> stored;
    if (!take(ledger_.reservation(op.obligation, op.attempt), stored)) return nullptr;
    return &changes_.reservations.emplace_back(
        CapChanges::Reservation{&op.obligation, op.attempt, stored, stored});
  }

  bool run(const CapOp& op) {
    CapChanges::Reservation* const entry = reservation(op);
    if (entry == nullptr) return false;
    switch (op.kind) {
      case CapOp::Kind::reserve:
        return reserve(op, *entry);
      case CapOp::Kind::settle:
        return settle(op, *entry);
      case CapOp::Kind::release:
        return release(op, *entry);
    }
    check_failed("op.kind", __FILE__, __LINE__, "a CapOp reserves, settles or releases");
  }

  bool reserve(const CapOp& op, CapChanges::Reservation& entry) {
    if (entry.now) return true;
    if (op.enforce && !fits_limits(op)) return false;
    if (!book(op, op.amount.currency, {op.amount.minor, 0})) return false;
    entry.now = CapReservation{CapReservation::State::reserved, op.amount};
    return true;
  }

  bool settle(const CapOp& op, CapChanges::Reservation& entry) {
    if (entry.now && entry.now->state == CapReservation::State::settled) return true;
    if (entry.now && !book(op, entry.now->amount.currency, {-entry.now->amount.minor, 0})) {
      return false;
    }
    if (!book(op, op.amount.currency, {0, op.amount.minor})) return false;
    entry.now = CapReservation{CapReservation::State::settled, op.amount};
    return true;
  }

  bool release(const CapOp& op, CapChanges::Reservation& entry) {
    if (!entry.now || entry.now->state == CapReservation::State::settled) return true;
    if (!book(op, entry.now->amount.currency, {-entry.now->amount.minor, 0})) return false;
    entry.now = std::nullopt;
    return true;
  }

  bool fits_limits(const CapOp& op) {
    for (const CustomerId* customer : {&op.obligation.customer, no_customer}) {
      const Bucket* const found = bucket(op.obligation.period, customer, op.amount.currency);
      if (found == nullptr) return false;
      if (!found->limit) continue;
      std::int64_t after = used(found->sum);
      if (add_overflows(after, op.amount.minor) || after > *found->limit) {
        refusal_ =
            CapRefused{op.obligation.period, customer == nullptr ? CustomerId() : *customer,
                       Money{*found->limit, op.amount.currency}, used(found->sum), op.amount.minor};
        return false;
      }
    }
    return true;
  }

  bool book(const CapOp& op, const Currency& currency, const CapSum& change) {
    for (const CustomerId* customer : {&op.obligation.customer, no_customer}) {
      Bucket* const found = bucket(op.obligation.period, customer, currency);
      if (found == nullptr) return false;
      if (customer != nullptr && !found->limit) continue;
      CapSum sum = found->sum;
      std::int64_t all = 0;
      if (add_overflows(sum.reserved_minor, change.reserved_minor) ||
          add_overflows(sum.settled_minor, change.settled_minor) ||
          add_overflows(all, sum.reserved_minor) || add_overflows(all, sum.settled_minor)) {
        refusal_ = InvalidUnit{Error{ErrorCode::invalid_argument,
                                     "unit of " + unit_.persistence_id.value() +
                                         ": the sum of the spend cap leaves 63 bits; nothing of "
                                         "it was stored"}};
        return false;
      }
      found->sum = sum;
      found->is_changed = true;
    }
    return true;
  }

  static constexpr const CustomerId* no_customer = nullptr;

  const CommitUnit& unit_;
  CapLookup& ledger_;
  std::vector<Bucket> buckets_;
  CapChanges changes_;
  std::optional<CapPlan> refusal_;
  std::optional<Error> error_;
};

}  // namespace

Result<CapPlan> plan_caps(const CommitUnit& unit, CapLookup& ledger) {
  if (unit.caps.empty() && unit.limits.empty()) return CapPlan(CapChanges{});
  return CapPlanner(unit, ledger).plan();
}

}  // namespace onceward::journal

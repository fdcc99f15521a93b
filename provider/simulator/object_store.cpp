// Implementation of ObjectStore.
#include "provider/simulator/object_store.hpp"

#include "provider/simulator/random.hpp"

namespace onceward::provider::simulator {
namespace {

template <class T>
Result<T*> restore_into(Table<T>& table, const StoredRow& row) {
  auto object = parse_stored<T>(row.text);
  if (!object) return Unexpected{std::move(object).error()};
  if (object->id != row.id || table.find(row.id) != nullptr) {
    return fail(ErrorCode::store_corrupt, "row holds another or a repeated object");
  }
  return &table.insert(*std::move(object));
}

/// What restoring one object did, with the object's own follow-up.
template <class T, class Use>
Result<bool> restored(Result<T*> object, Use&& use) {
  if (!object) return Unexpected{std::move(object).error()};
  use(**object);
  return true;
}

template <class T>
const std::vector<const T*>& find_or_none(const ByOwner<T>& index, const std::string& owner) {
  static const std::vector<const T*> none;
  const auto found = index.find(owner);
  return found == index.end() ? none : found->second;
}

}  // namespace

std::string ObjectStore::next_id(std::string_view prefix) {
  std::uint64_t value = mix(seed_ * 0x9e3779b97f4a7c15ULL + ++ids_given_);
  std::string id(prefix);
  static constexpr std::string_view digits = "0123456789abcdef";
  for (int nr = 0; nr < 16; ++nr, value >>= 4U) id.push_back(digits[value & 15U]);
  return id;
}

Customer& ObjectStore::add(Customer customer) {
  Customer& kept = customers_.insert(std::move(customer));
  save(kept);
  return kept;
}
PaymentMethod& ObjectStore::add(PaymentMethod method) {
  PaymentMethod& kept = payment_methods_.insert(std::move(method));
  save(kept);
  return kept;
}
PaymentIntent& ObjectStore::add(PaymentIntent intent) {
  PaymentIntent& kept = intents_.insert(std::move(intent));
  intents_by_customer_[kept.customer].push_back(&kept);
  save(kept);
  return kept;
}
Charge& ObjectStore::add(Charge charge) {
  Charge& kept = charges_.insert(std::move(charge));
  charges_by_customer_[kept.customer].push_back(&kept);
  save(kept);
  return kept;
}
Refund& ObjectStore::add(Refund refund) {
  Refund& kept = refunds_.insert(std::move(refund));
  refunds_by_charge_[kept.charge].push_back(&kept);
  save(kept);
  return kept;
}
Dispute& ObjectStore::add(Dispute dispute) {
  Dispute& kept = disputes_.insert(std::move(dispute));
  save(kept);
  return kept;
}

void ObjectStore::save(const Customer& customer) {
  changes_.put("customer", customer.id, [&] { return to_stored(customer); });
}
void ObjectStore::save(const PaymentMethod& method) {
  changes_.put("payment_method", method.id, [&] { return to_stored(method); });
}
void ObjectStore::save(const PaymentIntent& intent) {
  changes_.put("payment_intent", intent.id, [&] { return to_stored(intent); });
}
void ObjectStore::save(const Charge& charge) {
  changes_.put("charge", charge.id, [&] { return to_stored(charge); });
}
void ObjectStore::save(const Refund& refund) {
  changes_.put("refund", refund.id, [&] { return to_stored(refund); });
}
void ObjectStore::save(const Dispute& dispute) {
  changes_.put("dispute", dispute.id, [&] { return to_stored(dispute); });
}

const std::vector<const PaymentIntent*>& ObjectStore::intents_of(
    const std::string& customer) const {
  return find_or_none(intents_by_customer_, customer);
}
const std::vector<const Charge*>& ObjectStore::charges_of(const std::string& customer) const {
  return find_or_none(charges_by_customer_, customer);
}
const std::vector<const Refund*>& ObjectStore::refunds_of(const std::string& charge) const {
  return find_or_none(refunds_by_charge_, charge);
}

Result<bool> ObjectStore::restore(const StoredRow& row) {
  if (row.kind == "customer") return restored(restore_into(customers_, row), [](Customer&) {});
  if (row.kind == "payment_method") {
    return restored(restore_into(payment_methods_, row), [](PaymentMethod&) {});
  }
  if (row.kind == "dispute") return restored(restore_into(disputes_, row), [](Dispute&) {});
  if (row.kind == "payment_intent") {
    return restored(restore_into(intents_, row), [&](PaymentIntent& intent) {
      intents_by_customer_[intent.customer].push_back(&intent);
    });
  }
  if (row.kind == "charge") {
    return restored(restore_into(charges_, row), [&](Charge& charge) {
      charges_by_customer_[charge.customer].push_back(&charge);
      if (charge.settlement) pending_charges_.push_back(&charge);
    });
  }
  if (row.kind == "refund") {
    return restored(restore_into(refunds_, row), [&](Refund& refund) {
      refunds_by_charge_[refund.charge].push_back(&refund);
      if (refund.settlement) pending_refunds_.push_back(&refund);
    });
  }
  return false;
}

void ObjectStore::clear(std::uint64_t seed) {
  seed_ = seed;
  ids_given_ = 0;
  intents_by_customer_.clear();
  charges_by_customer_.clear();
  refunds_by_charge_.clear();
  pending_charges_.clear();
  pending_refunds_.clear();
  customers_.clear();
  payment_methods_.clear();
  intents_.clear();
  charges_.clear();
  refunds_.clear();
  disputes_.clear();
}

}  // namespace onceward::provider::simulator

// Implementation of ObjectStore.
#include "provider/simulator/object_store.hpp"

#include "provider/simulator/random.hpp"

namespace onceward::provider::simulator {
namespace {

template <class T>
Result<bool> restore_into(Table<T>& table, ByCustomer<T>* index, const StoredRow& row) {
  auto object = parse_stored<T>(row.text);
  if (!object) return Unexpected{std::move(object).error()};
  if (object->id != row.id || table.find(row.id) != nullptr) {
    return fail(ErrorCode::store_corrupt, "row holds another or a repeated object");
  }
  const T& kept = table.insert(*std::move(object));
  if constexpr (requires { kept.amount; }) (*index)[kept.customer].push_back(&kept);
  return true;
}

template <class T>
const std::vector<const T*>& find_or_none(const ByCustomer<T>& index, const std::string& customer) {
  static const std::vector<const T*> none;
  const auto found = index.find(customer);
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

const std::vector<const PaymentIntent*>& ObjectStore::intents_of(
    const std::string& customer) const {
  return find_or_none(intents_by_customer_, customer);
}
const std::vector<const Charge*>& ObjectStore::charges_of(const std::string& customer) const {
  return find_or_none(charges_by_customer_, customer);
}

Result<bool> ObjectStore::restore(const StoredRow& row) {
  ByCustomer<Customer>* no_index = nullptr;
  ByCustomer<PaymentMethod>* no_method_index = nullptr;
  if (row.kind == "customer") return restore_into(customers_, no_index, row);
  if (row.kind == "payment_method") return restore_into(payment_methods_, no_method_index, row);
  if (row.kind == "payment_intent") return restore_into(intents_, &intents_by_customer_, row);
  if (row.kind != "charge") return false;
  auto restored = restore_into(charges_, &charges_by_customer_, row);
  if (!restored) return restored;
  Charge* charge = charges_.find(row.id);
  if (charge->settlement) pending_charges_.push_back(charge);
  return true;
}

void ObjectStore::clear(std::uint64_t seed) {
  seed_ = seed;
  ids_given_ = 0;
  intents_by_customer_.clear();
  charges_by_customer_.clear();
  pending_charges_.clear();
  customers_.clear();
  payment_methods_.clear();
  intents_.clear();
  charges_.clear();
}

}  // namespace onceward::provider::simulator

// ObjectStore: all objects of the provider, in memory, in order of creation, with the look-ups
// that its API offers. Nothing is ever deleted, except by a reset.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "provider/simulator/change_log.hpp"
#include "provider/simulator/objects.hpp"

namespace onceward::provider::simulator {

/// Objects of one type. References stay valid until clear().
template <class T>
class Table {
 public:
  T& insert(T object) {
    objects_.push_back(std::move(object));
    T& kept = objects_.back();
    by_id_.emplace(kept.id, &kept);
    return kept;
  }
  [[nodiscard]] T* find(const std::string& id) {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }
  /// Oldest first.
  [[nodiscard]] const std::deque<T>& all() const noexcept { return objects_; }
  void clear() {
    by_id_.clear();
    objects_.clear();
  }

 private:
  std::deque<T> objects_;
  std::unordered_map<std::string, T*> by_id_;
};

/// Objects of one customer, or refunds of one charge, oldest first.
template <class T>
using ByOwner = std::unordered_map<std::string, std::vector<const T*>>;

class ObjectStore {
 public:
  ObjectStore(std::uint64_t seed, ChangeLog& changes) : seed_(seed), changes_(changes) {}

  /// A new id, e.g. `pi_9f...`: unique in this store, reproducible from the seed, opaque.
  [[nodiscard]] std::string next_id(std::string_view prefix);

  Customer& add(Customer customer);
  PaymentMethod& add(PaymentMethod method);
  PaymentIntent& add(PaymentIntent intent);
  Charge& add(Charge charge);
  Refund& add(Refund refund);
  Dispute& add(Dispute dispute);
  /// After every change to an object; add() saves by itself.
  void save(const Customer& customer);
  void save(const PaymentMethod& method);
  void save(const PaymentIntent& intent);
  void save(const Charge& charge);
  void save(const Refund& refund);
  void save(const Dispute& dispute);

  [[nodiscard]] Table<Customer>& customers() noexcept { return customers_; }
  [[nodiscard]] Table<PaymentMethod>& payment_methods() noexcept { return payment_methods_; }
  [[nodiscard]] Table<PaymentIntent>& intents() noexcept { return intents_; }
  [[nodiscard]] Table<Charge>& charges() noexcept { return charges_; }
  [[nodiscard]] Table<Refund>& refunds() noexcept { return refunds_; }
  [[nodiscard]] Table<Dispute>& disputes() noexcept { return disputes_; }
  [[nodiscard]] const std::vector<const PaymentIntent*>& intents_of(
      const std::string& customer) const;
  [[nodiscard]] const std::vector<const Charge*>& charges_of(const std::string& customer) const;
  [[nodiscard]] const std::vector<const Refund*>& refunds_of(const std::string& charge) const;

  /// What is to settle, oldest first; whoever settles one removes it.
  [[nodiscard]] std::vector<Charge*>& pending_charges() noexcept { return pending_charges_; }
  [[nodiscard]] std::vector<Refund*>& pending_refunds() noexcept { return pending_refunds_; }

  /// Takes one stored row; false when its kind is none of the objects'.
  [[nodiscard]] Result<bool> restore(const StoredRow& row);
  [[nodiscard]] std::uint64_t ids_given() const noexcept { return ids_given_; }
  void restore_ids_given(std::uint64_t seed, std::uint64_t count) noexcept {
    seed_ = seed;
    ids_given_ = count;
  }
  void clear(std::uint64_t seed);

 private:
  std::uint64_t seed_;
  ChangeLog& changes_;
  std::uint64_t ids_given_ = 0;
  Table<Customer> customers_;
  Table<PaymentMethod> payment_methods_;
  Table<PaymentIntent> intents_;
  Table<Charge> charges_;
  Table<Refund> refunds_;
  Table<Dispute> disputes_;
  ByOwner<PaymentIntent> intents_by_customer_;
  ByOwner<Charge> charges_by_customer_;
  ByOwner<Refund> refunds_by_charge_;
  std::vector<Charge*> pending_charges_;
  std::vector<Refund*> pending_refunds_;
};

}  // namespace onceward::provider::simulator

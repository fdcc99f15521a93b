// Strong<Tag, T>: one type per identifier and per quantity, so that two ids of different meaning
// can never be exchanged. Text ids are validated by their own parse functions (ids.hpp).
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <utility>

namespace onceward {

/// Wraps one value under a tag that is only a name. Regular: default, copy, equality, order and
/// hash are those of T. Nothing else is forwarded, so no arithmetic and no mixing by accident.
template <class Tag, class T>
class Strong {
 public:
  using value_type = T;

  Strong() = default;
  /// Takes the value as it is, without any check.
  explicit Strong(T value) : value_(std::move(value)) {}

  [[nodiscard]] const T& value() const noexcept { return value_; }

  friend bool operator==(const Strong&, const Strong&) = default;
  friend auto operator<=>(const Strong&, const Strong&) = default;

 private:
  T value_{};
};

}  // namespace onceward

/// For look-up only: the order of an unordered container must not reach any output.
template <class Tag, class T>
struct std::hash<onceward::Strong<Tag, T>> {
  std::size_t operator()(const onceward::Strong<Tag, T>& id) const noexcept {
    return std::hash<T>{}(id.value());
  }
};

// Strong<Tag, T>: one type per identifier and per quantity, so that two ids of different meaning
// can never be exchanged. Text ids are validated by their own parse functions (ids.hpp).
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <utility>

namespace onceward {

template <class Tag, class T>
class Strong {
 public:
  using value_type = T;

  Strong() = default;
  explicit Strong(T value) : value_(std::move(value)) {}

  [[nodiscard]] const T& value() const noexcept { return value_; }

  friend bool operator==(const Strong&, const Strong&) = default;
  friend auto operator<=>(const Strong&, const Strong&) = default;

 private:
  T value_{};
};

}  // namespace onceward

template <class Tag, class T>
struct std::hash<onceward::Strong<Tag, T>> {
  std::size_t operator()(const onceward::Strong<Tag, T>& id) const noexcept {
    return std::hash<T>{}(id.value());
  }
};

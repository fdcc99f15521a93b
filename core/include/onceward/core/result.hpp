// Result<T>: a value or an Error. Keeps to the names of std::expected, so that the alias can be
// switched once the compilers have it. Business answers are sums of their own, never a Result.
//
// Which to use: an expected failure that the caller reacts to by its ErrorCode is a Result; a call
// that leaves the process returns an outcome with `unknown`; what only a bug can cause is checked.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include <onceward/core/check.hpp>
#include <onceward/core/error.hpp>

namespace onceward {

/// Marks the error alternative when a Result is built: `return Unexpected{{code, "context"}};`
struct Unexpected {
  Error error;
};

/// Short form of building the error alternative: `return fail(ErrorCode::busy, "queue of 64 is
/// full")`. `context` says what was attempted, on which id, and what would be accepted; never a
/// secret.
[[nodiscard]] inline Unexpected fail(ErrorCode code, std::string context) {
  return Unexpected{Error{code, std::move(context)}};
}

/// Holds T or Error, never neither. Reading the alternative that is absent is a broken invariant
/// and aborts; ask has_value() first. Copies and moves as its alternative does; a moved-from Result
/// keeps its alternative. No thread-safety beyond that of T.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  /// Both are implicit, so that a function returns its value or `fail(...)` as it stands.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  Result(Unexpected error) : state_(std::in_place_index<1>, std::move(error.error)) {}  // NOLINT

  /// True if the Result holds a T. Ask before any access.
  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value, by reference into this Result; aborts if it holds an error.
  [[nodiscard]] T& value() & {
    ONCEWARD_CHECK(has_value(), "value() of a Result that holds an error");
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    ONCEWARD_CHECK(has_value(), "value() of a Result that holds an error");
    return *std::get_if<0>(&state_);
  }
  /// From a temporary the value itself, never a reference into it: `for (auto& x : *f())` is safe.
  [[nodiscard]] T value() && {
    ONCEWARD_CHECK(has_value(), "value() of a Result that holds an error");
    return std::move(*std::get_if<0>(&state_));
  }
  /// As value(), checks included.
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  /// The error, by reference into this Result; aborts if it holds a value.
  [[nodiscard]] const Error& error() const& {
    ONCEWARD_CHECK(!has_value(), "error() of a Result that holds a value");
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] Error error() && {
    ONCEWARD_CHECK(!has_value(), "error() of a Result that holds a value");
    return std::move(*std::get_if<1>(&state_));
  }

  /// A copy of the value, or the fallback. Not for money or identity: an error there is answered,
  /// never papered over.
  template <class U>
  [[nodiscard]] T value_or(U&& fallback) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(fallback));
  }
  /// `f: T -> Result<U>`; an error passes through and `f` is not called.
  template <class F>
  [[nodiscard]] auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
    if (!has_value()) return Unexpected{std::move(*this).error()};
    return std::forward<F>(f)(std::move(*this).value());
  }
  /// `f: T -> U`; an error passes through and `f` is not called.
  template <class F>
  [[nodiscard]] auto transform(F&& f) && -> Result<std::invoke_result_t<F, T&&>> {
    if (!has_value()) return Unexpected{std::move(*this).error()};
    return std::forward<F>(f)(std::move(*this).value());
  }
  /// `f: Error -> Result<T>`; a value passes through and `f` is not called.
  template <class F>
  [[nodiscard]] Result or_else(F&& f) && {
    if (has_value()) return std::move(*this);
    return std::forward<F>(f)(std::move(*this).error());
  }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, as in `Result<Unit>`: `return ok();`
struct Unit {
  friend bool operator==(const Unit&, const Unit&) = default;
};
[[nodiscard]] inline Unit ok() {
  return {};
}

}  // namespace onceward

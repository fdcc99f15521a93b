// ONCEWARD_CHECK: the always-on check for broken invariants of our own code. It is never used for
// what stored, foreign or user data can cause: such data is refused or quarantines one entity.
#pragma once

namespace onceward {

/// Prints the failed condition with its place to stderr and aborts. Never returns, never allocates.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const char* message) noexcept;

}  // namespace onceward

/// On in every build. `message` is a literal that says which invariant was broken.
#define ONCEWARD_CHECK(condition, message) \
  (static_cast<bool>(condition)            \
       ? static_cast<void>(0)              \
       : ::onceward::check_failed(#condition, __FILE__, __LINE__, message))

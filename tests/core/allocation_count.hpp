// How often the test program has allocated, so that the claim "does not allocate" can fail. Linking
// allocation_count.cpp replaces the global operator new.
#pragma once

#include <cstddef>

namespace onceward {

/// Calls of operator new by this thread so far.
[[nodiscard]] std::size_t allocation_count() noexcept;

}  // namespace onceward

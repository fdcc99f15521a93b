// The counting operator new. In a file of its own: g++ must not inline one half of a pair of new
// and delete into a test, where it would look like a mismatch.
#include "tests/core/allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace onceward {

std::size_t allocation_count() noexcept {
  return allocations;
}

}  // namespace onceward

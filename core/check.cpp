// The end of the process after a broken invariant: one line to stderr, then abort. Called only
// through ONCEWARD_CHECK.
#include <onceward/core/check.hpp>

#include <cstdio>
#include <cstdlib>

namespace onceward {

void check_failed(const char* condition, const char* file, int line, const char* message) noexcept {
  // stderr is unbuffered, so nothing is allocated here and nothing can be lost by the abort.
  (void)std::fprintf(stderr, "onceward: broken invariant: %s (%s) at %s:%d\n", message, condition,
                     file, line);
  std::abort();
}

}  // namespace onceward

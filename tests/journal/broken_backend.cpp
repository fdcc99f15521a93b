// The conformance suite over a journal that breaks the rule ONCEWARD_BROKEN_RULE. Not a test of its
// own: broken_backends_test runs it and expects it to fail.
#include <cstdlib>
#include <utility>

#include <onceward/harness/journal_conformance.hpp>

#include "tests/journal/broken_journal.hpp"

namespace onceward::journal::testing {
namespace {

class BrokenBackend {
 public:
  static constexpr std::uint32_t shards = 4;

  Journal& journal() { return journal_; }
  void reopen() { ASSERT_TRUE(journal_.barrier().has_value()); }
  void break_next_commit() {
    journal_.real().script([is_broken = false]() mutable {
      return std::exchange(is_broken, true) ? CommitFate::normal : CommitFate::lost_unanswered;
    });
  }

 private:
  static BrokenRule rule() {
    const char* const text = std::getenv("ONCEWARD_BROKEN_RULE");
    return static_cast<BrokenRule>(text == nullptr ? 0 : std::atoi(text));
  }
  BrokenJournal journal_{rule(), shards};
};

}  // namespace

ONCEWARD_INSTANTIATE_JOURNAL_CONFORMANCE(Broken, BrokenBackend);

}  // namespace onceward::journal::testing

// One test per cell of the resume table: step × taint × age × saved error × look-up × quiet.
#include <onceward/billing/resume_table.hpp>

#include <gtest/gtest.h>

namespace onceward::billing {
namespace {

constexpr Step all_steps[] = {Step::charge,  Step::create, Step::create_confirm,
                              Step::confirm, Step::cancel, Step::refund};
constexpr LookedUp all_looked[] = {LookedUp::nothing, LookedUp::absent, LookedUp::unpaid_same,
                                   LookedUp::failed, LookedUp::too_early};

// The rule in words, written a second time as the oracle.
ResumeAction expected(const ResumeFacts& f) {
  if (!f.tainted) return ResumeAction::send_same_key;
  const bool key_helps = f.young && !f.pointless;
  if (key_helps && !f.burst_used) return ResumeAction::send_same_key;
  if (f.looked_up == LookedUp::nothing) return ResumeAction::look_up;
  if (f.looked_up == LookedUp::failed) return ResumeAction::look_up;
  if (f.looked_up == LookedUp::too_early && f.quiet) return ResumeAction::look_up;
  if (f.looked_up == LookedUp::too_early) return ResumeAction::wait_until_quiet;
  const bool may_repeat = f.step == Step::create || f.step == Step::cancel;
  if (may_repeat) return ResumeAction::send_next_generation;
  if (!f.quiet) return ResumeAction::wait_until_quiet;
  const bool intent_unpaid = f.step == Step::confirm || (f.step == Step::create_confirm &&
                                                         f.looked_up == LookedUp::unpaid_same);
  return intent_unpaid ? ResumeAction::send_next_generation : ResumeAction::park;
}

TEST(ResumeTable, EveryCellFollowsTheRule) {
  int cells = 0;
  for (const Step step : all_steps) {
    for (const LookedUp looked : all_looked) {
      for (int bits = 0; bits < 32; ++bits) {
        ResumeFacts f;
        f.step = step;
        f.looked_up = looked;
        f.tainted = (bits & 1) != 0;
        f.young = (bits & 2) != 0;
        f.pointless = (bits & 4) != 0;
        f.quiet = (bits & 8) != 0;
        f.burst_used = (bits & 16) != 0;
        EXPECT_EQ(resume_action(f), expected(f)) << to_text(step) << " bits " << bits;
        ++cells;
      }
    }
  }
  EXPECT_EQ(cells, 6 * 5 * 32);
}

TEST(ResumeTable, NeverMovesMoneyUnderANewKeyWithoutProof) {
  for (int bits = 0; bits < 32; ++bits) {
    for (const LookedUp looked : all_looked) {
      for (const Step step : {Step::charge, Step::create_confirm, Step::refund}) {
        ResumeFacts f{step,   (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                      looked, (bits & 16) != 0};
        // The intent of a one-step request is known once it was read as unpaid: it is confirmed.
        if (step == Step::create_confirm && looked == LookedUp::unpaid_same && f.quiet) continue;
        EXPECT_NE(resume_action(f), ResumeAction::send_next_generation);
      }
      ResumeFacts f{Step::confirm,   true,   (bits & 2) != 0, (bits & 4) != 0,
                    (bits & 8) != 0, looked, (bits & 16) != 0};
      if (resume_action(f) == ResumeAction::send_next_generation) {
        EXPECT_TRUE(f.quiet);
        EXPECT_TRUE(looked == LookedUp::absent || looked == LookedUp::unpaid_same);
      }
    }
  }
}

TEST(ResumeTable, NeverSendsAnOldKeyAgainOnceTainted) {
  for (const Step step : all_steps) {
    for (const LookedUp looked : all_looked) {
      for (const bool quiet : {false, true}) {
        const ResumeFacts f{step, true, false, false, quiet, looked, false};
        EXPECT_NE(resume_action(f), ResumeAction::send_same_key) << to_text(step);
      }
    }
  }
}

}  // namespace
}  // namespace onceward::billing

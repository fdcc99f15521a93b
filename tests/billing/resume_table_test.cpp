// One test per cell of the resume table: step × taint × age × saved error × look-up × quiet.
#include <onceward/billing/resume_table.hpp>

#include <gtest/gtest.h>

namespace onceward::billing {
namespace {

constexpr Step all_steps[] = {Step::charge,  Step::create, Step::create_confirm,
                              Step::confirm, Step::cancel, Step::refund};
constexpr LookedUp all_looked[] = {LookedUp::nothing, LookedUp::absent, LookedUp::unpaid_same,
                                   LookedUp::failed, LookedUp::too_early};

constexpr Heading all_headings[] = {Heading::bill, Heading::call_off, Heading::by_verdict};

// The rule in words, written a second time as the oracle.
ResumeAction expected(const ResumeFacts& f) {
  const bool wanted =
      f.heading == Heading::bill || f.step == Step::cancel || f.step == Step::refund;
  if (!f.tainted) return wanted ? ResumeAction::send_same_key : ResumeAction::call_off;
  const bool key_helps = f.young && !f.pointless;
  const bool harmless = wanted || f.step == Step::create;
  if (key_helps && !f.burst_used && harmless) return ResumeAction::send_same_key;
  if (f.looked_up == LookedUp::nothing) return ResumeAction::look_up;
  if (f.looked_up == LookedUp::failed) return ResumeAction::look_up;
  if (f.looked_up == LookedUp::too_early && f.quiet) return ResumeAction::look_up;
  if (f.looked_up == LookedUp::too_early) return ResumeAction::wait_until_quiet;
  if (f.step == Step::cancel) return ResumeAction::send_next_generation;
  if (!f.quiet) return ResumeAction::wait_until_quiet;
  if (f.step == Step::create) {
    return wanted ? ResumeAction::send_next_generation : ResumeAction::call_off;
  }
  const bool intent_unpaid = f.step == Step::confirm || (f.step == Step::create_confirm &&
                                                         f.looked_up == LookedUp::unpaid_same);
  if (intent_unpaid && wanted) return ResumeAction::send_next_generation;
  if (intent_unpaid) return ResumeAction::call_off;
  if (f.step == Step::refund) return ResumeAction::park;
  if (f.heading == Heading::by_verdict) return ResumeAction::call_off;
  const bool rebills = f.may_rebill && f.heading == Heading::bill;
  return rebills ? ResumeAction::send_next_generation : ResumeAction::park;
}

TEST(ResumeTable, EveryCellFollowsTheRule) {
  int cells = 0;
  for (const Step step : all_steps) {
    for (const LookedUp looked : all_looked) {
      for (const Heading heading : all_headings) {
        for (int bits = 0; bits < 64; ++bits) {
          ResumeFacts f;
          f.step = step;
          f.looked_up = looked;
          f.heading = heading;
          f.tainted = (bits & 1) != 0;
          f.young = (bits & 2) != 0;
          f.pointless = (bits & 4) != 0;
          f.quiet = (bits & 8) != 0;
          f.burst_used = (bits & 16) != 0;
          f.may_rebill = (bits & 32) != 0;
          EXPECT_EQ(resume_action(f), expected(f)) << to_text(step) << " bits " << bits;
          ++cells;
        }
      }
    }
  }
  EXPECT_EQ(cells, 6 * 5 * 3 * 64);
}

// What is to be called off never takes money by a send of ours.
TEST(ResumeTable, SendsNothingThatMovesMoneyOnceItIsToBeCalledOff) {
  for (const Step step : {Step::charge, Step::create_confirm, Step::confirm}) {
    for (const LookedUp looked : all_looked) {
      for (const Heading heading : {Heading::call_off, Heading::by_verdict}) {
        for (int bits = 0; bits < 64; ++bits) {
          const ResumeFacts f{
              step,   (bits & 1) != 0,  (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
              looked, (bits & 16) != 0, heading,         (bits & 32) != 0};
          const ResumeAction action = resume_action(f);
          EXPECT_NE(action, ResumeAction::send_same_key);
          EXPECT_NE(action, ResumeAction::send_next_generation);
        }
      }
    }
  }
}

TEST(ResumeTable, NeverMovesMoneyUnderANewKeyWithoutProof) {
  for (int bits = 0; bits < 32; ++bits) {
    for (const LookedUp looked : all_looked) {
      for (const Step step : {Step::charge, Step::create_confirm, Step::refund}) {
        ResumeFacts f{step,
                      (bits & 1) != 0,
                      (bits & 2) != 0,
                      (bits & 4) != 0,
                      (bits & 8) != 0,
                      looked,
                      (bits & 16) != 0,
                      Heading::bill,
                      false};
        // The intent of a one-step request is known once it was read as unpaid: it is confirmed.
        if (step == Step::create_confirm && looked == LookedUp::unpaid_same && f.quiet) continue;
        EXPECT_NE(resume_action(f), ResumeAction::send_next_generation);
      }
      ResumeFacts f{Step::confirm,
                    true,
                    (bits & 2) != 0,
                    (bits & 4) != 0,
                    (bits & 8) != 0,
                    looked,
                    (bits & 16) != 0,
                    Heading::bill,
                    false};
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
        const ResumeFacts f{step, true, false, false, quiet, looked, false, Heading::bill, false};
        EXPECT_NE(resume_action(f), ResumeAction::send_same_key) << to_text(step);
      }
    }
  }
}

}  // namespace
}  // namespace onceward::billing

// SequenceNr, Epoch and ShardNr: order and the step to the next event.
#include <onceward/core/sequence_nr.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace {

using onceward::Epoch;
using onceward::SequenceNr;
using onceward::ShardNr;

static_assert(!std::is_convertible_v<SequenceNr, Epoch>, "a position is not a fencing token");

TEST(SequenceNr, StartsAtNothingStored) {
  EXPECT_EQ(SequenceNr{}.value, 0U);
}

TEST(SequenceNr, StepsForwardWithoutGap) {
  EXPECT_EQ(SequenceNr{}.plus(1), SequenceNr{1});
  EXPECT_EQ(SequenceNr{7}.plus(0), SequenceNr{7});
  EXPECT_EQ(SequenceNr{7}.plus(3), SequenceNr{10});
}

TEST(SequenceNr, OrdersByValue) {
  EXPECT_LT(SequenceNr{1}, SequenceNr{2});
  EXPECT_LT(Epoch{1}, Epoch{2});
  EXPECT_LT(ShardNr{1}, ShardNr{2});
  EXPECT_GE(Epoch{2}, Epoch{2});
}

}  // namespace

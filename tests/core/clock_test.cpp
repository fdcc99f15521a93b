// Timestamps as text, against the C library as an independent model, and the age of a request
// under clocks that jump, stop and disagree.
#include <onceward/core/clock.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <ctime>
#include <limits>
#include <string>

namespace onceward {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t year_0_ms = -62'167'219'200'000;
constexpr std::int64_t year_10000_ms = 253'402'300'800'000;
constexpr Timestamp wall_at_send{1'788'220'800'000};
constexpr Timestamp provider_at_send{wall_at_send.ms - 700};

std::string iso_by_libc(std::int64_t ms) {
  const std::int64_t rest = ((ms % 1000) + 1000) % 1000;
  const std::time_t second = (ms - rest) / 1000;
  std::tm parts{};
  gmtime_r(&second, &parts);
  std::array<char, 80> text{};
  (void)std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                      parts.tm_min, parts.tm_sec, static_cast<int>(rest));
  return text.data();
}

TEST(ToIso, PrintsUtcWithMilliseconds) {
  EXPECT_EQ(to_iso({0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso({-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_iso({1'785'542'400'000}), "2026-08-01T00:00:00.000Z");
  EXPECT_EQ(to_iso({1'709'210'096'007}), "2024-02-29T12:34:56.007Z");
}

TEST(ToIso, PrintsYearsOutsideFourDigitsInTheExpandedForm) {
  EXPECT_EQ(to_iso({year_10000_ms - 1}), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(to_iso({year_10000_ms}), "+010000-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso({year_0_ms}), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso({year_0_ms - 1}), "-000001-12-31T23:59:59.999Z");
  EXPECT_EQ(to_iso({std::numeric_limits<std::int64_t>::max()}), "+292278994-08-17T07:12:55.807Z");
  EXPECT_EQ(to_iso({std::numeric_limits<std::int64_t>::min()}), "-292275055-05-16T16:47:04.192Z");
}

RC_GTEST_PROP(ToIso, AgreesWithTheCLibraryAndIsReadBack, ()) {
  const auto ms = *rc::gen::inRange<std::int64_t>(year_0_ms, year_10000_ms);
  const std::string text = to_iso({ms});
  RC_ASSERT(text == iso_by_libc(ms));
  RC_ASSERT(parse_iso(text).value() == Timestamp{ms});
}

TEST(ParseIso, TakesWholeSeconds) {
  EXPECT_EQ(parse_iso("2026-08-01T00:00:00Z").value(), Timestamp{1'785'542'400'000});
  EXPECT_EQ(parse_iso("2024-02-29T23:59:59Z").value(), Timestamp{1'709'251'199'000});
}

TEST(ParseIso, RefusesEveryOtherSpelling) {
  for (const char* text : {"",
                           "2026",
                           "2026-08-01",
                           "2026-08-01T00:00:00",
                           "2026-08-01 00:00:00Z",
                           "2026-08-01T00:00:00z",
                           "2026-08-01t00:00:00Z",
                           "2026-08-01T00:00:00+00:00",
                           "2026-08-01T00:00:00.0Z",
                           "2026-08-01T00:00:00.00Z",
                           "2026-08-01T00:00:00.0000Z",
                           "2026-08-01T00:00:00,000Z",
                           "2026-08-01T00:00Z",
                           " 2026-08-01T00:00:00Z",
                           "2026-08-01T00:00:00Z ",
                           "2026/08/01T00:00:00Z",
                           "2026-08-01T00.00.00Z",
                           "+026-08-01T00:00:00Z",
                           "-026-08-01T00:00:00Z",
                           "2026-8-001T00:00:00Z",
                           "2026-+8-01T00:00:00Z",
                           "20x6-08-01T00:00:00Z",
                           "2026-08-01T00:00:00.-01Z",
                           "+010000-01-01T00:00:00.000Z"}) {
    const auto parsed = parse_iso(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

TEST(ParseIso, RefusesWhatIsOnNoCalendarOrClock) {
  for (const char* text : {"2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-08-00T00:00:00Z",
                           "2026-08-32T00:00:00Z", "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z",
                           "1900-02-29T00:00:00Z", "2026-08-01T24:00:00Z", "2026-08-01T00:60:00Z",
                           "2026-12-31T23:59:60Z"}) {
    EXPECT_FALSE(parse_iso(text).has_value()) << text;
  }
  EXPECT_TRUE(parse_iso("2000-02-29T00:00:00Z").has_value());
}

TEST(ParseIso, SaysWhatItWants) {
  EXPECT_EQ(parse_iso("soon").error().context, "time \"soon\": give YYYY-MM-DDTHH:MM:SS[.mmm]Z");
  EXPECT_EQ(parse_iso("so\non").error().context, "time (5 bytes): give YYYY-MM-DDTHH:MM:SS[.mmm]Z");
}

Now now_at_send() {
  return {wall_at_send, 5'000'000, 77, provider_at_send};
}

/// All clocks advanced alike.
Now later(milliseconds elapsed) {
  Now now = now_at_send();
  now.wall = now.wall.plus(elapsed);
  now.boottime_ms += elapsed.count();
  now.provider = now.provider->plus(elapsed);
  return now;
}

const SentAt sent = sent_at(now_at_send());

TEST(SentAt, RecordsEveryClock) {
  EXPECT_EQ(sent, (SentAt{wall_at_send, 5'000'000, 77, provider_at_send}));
}

TEST(AgeOf, IsTrustedWhenAllClocksAgree) {
  EXPECT_EQ(age_of(sent, later(hours(3))), (RequestAge{hours(3), true}));
  EXPECT_EQ(age_of(sent, later(milliseconds(0))), (RequestAge{milliseconds(0), true}));
}

TEST(AgeOf, IsNotTrustedWithoutProviderTimeOnEitherSide) {
  Now now = later(hours(1));
  now.provider.reset();
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(1), false}));
  SentAt sent_blind = sent;
  sent_blind.provider.reset();
  EXPECT_EQ(age_of(sent_blind, later(hours(1))), (RequestAge{hours(1), false}));
}

TEST(AgeOf, DoesNotBecomeYoungByAWallClockSetBack) {
  Now now = later(hours(30));
  now.wall = wall_at_send.plus(minutes(1));
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(30), false}));
}

TEST(AgeOf, DoesNotBecomeYoungByAWallClockSetBackOverAReboot) {
  Now now = later(hours(30));
  now.boot = 78;
  now.boottime_ms = 1000;
  now.wall = wall_at_send.plus(minutes(1));
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(30), false}));
}

TEST(AgeOf, TakesTheOldestOfEachClock) {
  Now now = later(hours(1));
  now.wall = wall_at_send.plus(hours(9));
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(9), false}));
  now = later(hours(1));
  now.boottime_ms += milliseconds(hours(9)).count();
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(10), false}));
  now = later(hours(1));
  now.provider = provider_at_send.plus(hours(9));
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(9), false}));
}

TEST(AgeOf, DoesNotCompareBoottimesOfTwoBoots) {
  Now now = later(hours(2));
  now.boot = 78;
  now.boottime_ms = 900'000'000'000;
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(2), true}));
}

TEST(AgeOf, AfterARebootWallAndProviderMustAgree) {
  Now now = later(hours(2));
  now.boot = 78;
  now.boottime_ms = 1000;
  now.wall = now.wall.plus(minutes(6));
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(2) + minutes(6), false}));
}

TEST(AgeOf, ToleratesExactlyFiveMinutesOfDisagreement) {
  Now now = later(hours(2));
  now.wall = now.wall.plus(minutes(5));
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(2) + minutes(5), true}));
  now.wall = now.wall.plus(milliseconds(1));
  EXPECT_FALSE(age_of(sent, now).trusted);
  now = later(hours(2));
  now.boottime_ms -= milliseconds(minutes(5)).count();
  EXPECT_TRUE(age_of(sent, now).trusted);
  now.boottime_ms -= 1;
  EXPECT_FALSE(age_of(sent, now).trusted);
}

TEST(AgeOf, AddsUpDisagreementsOnBothSides) {
  Now now = later(hours(2));
  now.wall = now.wall.plus(minutes(3));
  now.provider = now.provider->plus(minutes(-3));
  EXPECT_EQ(age_of(sent, now), (RequestAge{hours(2) + minutes(3), false}));
}

TEST(AgeOf, IsNeverNegative) {
  EXPECT_EQ(age_of(sent, later(seconds(-10))), (RequestAge{milliseconds(0), true}));
  EXPECT_EQ(age_of(sent, later(hours(-10))).age, milliseconds(0));
}

TEST(AgeOf, ClampsDifferencesThatDoNotFit) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  SentAt far_past = sent;
  far_past.wall = {lowest};
  EXPECT_EQ(age_of(far_past, later(hours(1))), (RequestAge{milliseconds(highest), false}));
  SentAt far_future = sent;
  far_future.wall = {highest};
  Now now = later(hours(1));
  now.wall = {lowest};
  EXPECT_EQ(age_of(far_future, now), (RequestAge{hours(1), false}));
}

RC_GTEST_PROP(AgeOf, IsAtLeastWhatAnyClockShows, ()) {
  const auto jump = [] { return *rc::gen::inRange<std::int64_t>(-100'000'000, 100'000'000); };
  Now now = now_at_send();
  const std::int64_t by_wall = jump();
  const std::int64_t by_boottime = jump();
  const std::int64_t by_provider = jump();
  now.wall.ms += by_wall;
  now.boottime_ms += by_boottime;
  now.provider->ms += by_provider;
  const RequestAge age = age_of(sent, now);
  RC_ASSERT(age.age.count() >= by_wall);
  RC_ASSERT(age.age.count() >= by_boottime);
  RC_ASSERT(age.age.count() >= by_provider);
  RC_ASSERT(age.age.count() >= 0);
}

}  // namespace
}  // namespace onceward

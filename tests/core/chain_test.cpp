// The hash chain: its published bytes, that every field counts, and that it costs no memory.
#include <onceward/core/chain.hpp>

#include "tests/core/allocation_count.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace onceward {
namespace {

ChainInput first_event() {
  return {.persistence_id = "customer/cust_12",
          .sequence_nr = {1},
          .manifest = "BillingInitiated/v1",
          .payload = R"({"a":1})",
          .epoch = {3},
          .writer = "writer1",
          .at_ms = 1'786'060'800'000};
}

ChainInput second_event() {
  ChainInput event = first_event();
  event.sequence_nr = {2};
  event.payload = R"({"a":2})";
  return event;
}

/// The documented bytes, built the plain way.
std::string bytes_by_document(const Digest& head, const ChainInput& event) {
  const std::string sequence_nr = std::to_string(event.sequence_nr.value);
  const std::string epoch = std::to_string(event.epoch.value);
  const std::string at_ms = std::to_string(event.at_ms);
  const std::array<std::string_view, 7> fields = {
      event.persistence_id, sequence_nr, event.manifest, event.payload, epoch, event.writer, at_ms};
  return std::string(head.bytes.begin(), head.bytes.end()) + netstrings(fields);
}

TEST(Chain, GivesTheHashesOfTheDocumentedExample) {
  const Digest one = chain_next(Digest{}, first_event());
  EXPECT_EQ(to_hex(one), "d38c7d2f3fbe148a0391f86f15e9ff01e41b5e80c601431e92261d97ca50de8b");
  EXPECT_EQ(to_hex(chain_next(one, second_event())),
            "893aedc10b3bcc6b96796390a70819c3d912a38abdedd32d3d362234186956ed");
}

TEST(Chain, HashesTheDocumentedBytes) {
  EXPECT_EQ(bytes_by_document(Digest{}, first_event()).substr(32),
            "16:customer/cust_12,1:1,19:BillingInitiated/v1,7:{\"a\":1},1:3,7:writer1,"
            "13:1786060800000,");
}

RC_GTEST_PROP(Chain, HashesTheDocumentedBytesOfAnyEvent,
              (const std::string& persistence_id, const std::string& manifest,
               const std::string& payload, const std::string& writer)) {
  const ChainInput event = {.persistence_id = persistence_id,
                            .sequence_nr = {*rc::gen::arbitrary<std::uint64_t>()},
                            .manifest = manifest,
                            .payload = payload,
                            .epoch = {*rc::gen::arbitrary<std::uint64_t>()},
                            .writer = writer,
                            .at_ms = *rc::gen::arbitrary<std::int64_t>()};
  const Digest head = sha256(payload);
  RC_ASSERT(chain_next(head, event) == sha256(bytes_by_document(head, event)));
}

TEST(Chain, HashesTheLongestNumbersAndLongTexts) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const std::string text(1'000'000, 'x');
  const ChainInput event = {.persistence_id = text,
                            .sequence_nr = {most},
                            .manifest = text,
                            .payload = text,
                            .epoch = {most},
                            .writer = text,
                            .at_ms = std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(chain_next(Digest{}, event), sha256(bytes_by_document(Digest{}, event)));
}

TEST(Chain, ChangesWithEveryField) {
  std::vector<ChainInput> altered(7, first_event());
  altered[0].persistence_id = "customer/cust_13";
  altered[1].sequence_nr = {2};
  altered[2].manifest = "BillingInitiated/v2";
  altered[3].payload = R"({"a":2})";
  altered[4].epoch = {4};
  altered[5].writer = "writer2";
  altered[6].at_ms += 1;
  const Digest original = chain_next(Digest{}, first_event());
  for (std::size_t at = 0; at < altered.size(); ++at) {
    EXPECT_NE(chain_next(Digest{}, altered[at]), original) << "field " << at;
  }
}

TEST(Chain, ChangesWithTheHead) {
  Digest head;
  head.bytes[31] = 1;
  EXPECT_NE(chain_next(head, first_event()), chain_next(Digest{}, first_event()));
}

TEST(Chain, DependsOnTheOrderOfEvents) {
  const Digest forward = chain_next(chain_next(Digest{}, first_event()), second_event());
  const Digest backward = chain_next(chain_next(Digest{}, second_event()), first_event());
  EXPECT_NE(forward, backward);
}

TEST(Chain, SeparatesBytesMovedFromOneFieldToTheNext) {
  ChainInput left = first_event();
  ChainInput right = first_event();
  left.manifest = "ab";
  left.payload = "c";
  right.manifest = "a";
  right.payload = "bc";
  EXPECT_NE(chain_next(Digest{}, left), chain_next(Digest{}, right));
}

TEST(Chain, DoesNotAllocate) {
  const ChainInput event = first_event();
  Digest head;
  const std::size_t before = allocation_count();
  for (int i = 0; i < 100; ++i) head = chain_next(head, event);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_NE(head, Digest{});
  const std::string counted(100, 'x');
  EXPECT_GT(allocation_count(), before) << "the counter itself does not count";
  EXPECT_EQ(counted.size(), 100U);
}

}  // namespace
}  // namespace onceward

// The hash chain of one history: each event's hash covers the bytes as stored and the hash before
// it, so an edit, a gap, a reordering or a second writer is found by recomputing it.
#pragma once

#include <cstdint>
#include <string_view>

#include <onceward/core/digest.hpp>
#include <onceward/core/sequence_nr.hpp>

namespace onceward {

/// What one stored event adds to the chain: every stored column, as stored. The texts are borrowed
/// for the call only. A stored event that is altered in any of these gives another hash.
struct ChainInput {
  std::string_view persistence_id;
  SequenceNr sequence_nr;
  /// Name and version of the event's stored form.
  std::string_view manifest;
  /// The encoded event, exactly the bytes in the store.
  std::string_view payload;
  Epoch epoch;
  /// Writer id of the incarnation that wrote the event.
  std::string_view writer;
  /// Wall time of the event, milliseconds since 1970-01-01T00:00:00Z.
  std::int64_t at_ms = 0;
};

/// Head of the history after one more event; `head` is the hash of the event before it, all zero
/// before the first. Does not allocate, does not fail, may be called from any thread.
///
/// The result is SHA-256 over these bytes, which are a persisted format and never change:
///
///     head                32 raw bytes
///     persistence_id      netstring
///     sequence_nr         netstring of the decimal digits
///     manifest            netstring
///     payload             netstring
///     epoch               netstring of the decimal digits
///     writer              netstring
///     at_ms               netstring of the decimal digits, `-` in front if negative
///
/// A netstring is `<length in bytes, decimal>:<bytes>,`; numbers have no zeros in front. The
/// encoding is injective: no two different inputs give the same bytes.
///
/// Worked example, the first event of a history (head = 32 zero bytes). After the head follow:
///
///     16:customer/cust_12,1:1,19:BillingInitiated/v1,7:{"a":1},1:3,7:writer1,13:1786060800000,
///
/// and the hash is
///
///     d38c7d2f3fbe148a0391f86f15e9ff01e41b5e80c601431e92261d97ca50de8b
///
/// A second event with sequence number 2, payload `{"a":2}` and otherwise equal fields then gives
///
///     893aedc10b3bcc6b96796390a70819c3d912a38abdedd32d3d362234186956ed
[[nodiscard]] Digest chain_next(const Digest& head, const ChainInput& event) noexcept;

}  // namespace onceward

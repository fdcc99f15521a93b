// CommitUnit: everything one entity stores at once, and the seven answers a journal gives to it.
// One unit is one atomic change; units in one group do not harm each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <onceward/core/digest.hpp>
#include <onceward/core/obligation.hpp>
#include <onceward/core/refund.hpp>
#include <onceward/core/sequence_nr.hpp>

namespace onceward {

/// Largest payload of one event in bytes; a larger one is InvalidUnit before anything is written.
inline constexpr std::size_t event_payload_bytes_max = 1024 * 1024;

/// Name and version of an event's stored form, e.g. {"BillingInitiated", 1}.
struct Manifest {
  std::string name;
  std::uint32_t version = 1;

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// An event on its way to the journal: JSON text under its manifest.
struct EncodedEvent {
  Manifest manifest;
  std::string payload;

  friend bool operator==(const EncodedEvent&, const EncodedEvent&) = default;
};

/// An event as it was stored, with who wrote it and the chain hash up to and including it.
struct StoredEvent {
  SequenceNr sequence_nr;
  EncodedEvent event;
  Epoch epoch;
  WriterId writer;
  Timestamp at;
  Digest head;

  friend bool operator==(const StoredEvent&, const StoredEvent&) = default;
};

/// `claim` creates the row and is refused if it exists; `update` rewrites the existing one and is
/// InvalidUnit if it does not exist. A unit writes each row at most once.
struct RowWrite {
  enum class Kind : std::uint8_t { claim, update };
  Kind kind = Kind::update;
  ObligationRow row;

  friend bool operator==(const RowWrite&, const RowWrite&) = default;
};

/// A unique fact stored with a commit: a caller's key, a webhook id, an operator command's id.
/// (scope, key) is unique for as long as the mark lives; never used for bill commands' request ids.
struct Mark {
  std::string scope;
  std::string key;
  std::string fingerprint;              ///< of the content, to tell a repeat from a clash
  std::optional<Timestamp> expires_at;  ///< absent: for ever

  friend bool operator==(const Mark&, const Mark&) = default;
};

/// One change of the spend-cap ledger, keyed by (obligation, attempt). Buckets are (billed period,
/// currency). `reserve` of an existing reservation, `settle` of a settled one and `release` of an
/// absent one change nothing, and neither does `release` of a settled one. `settle` also books
/// money that was never reserved. A unit's limits are set first, then its operations run in order.
struct CapOp {
  enum class Kind : std::uint8_t { reserve, settle, release };
  Kind kind = Kind::reserve;
  ObligationKey obligation;
  std::uint32_t attempt = 1;
  Money amount;
  /// Only for reserve: refuse the unit if a limit would be passed; false books and reports only.
  bool enforce = true;

  friend bool operator==(const CapOp&, const CapOp&) = default;
};

/// A limit of the spend cap. An empty customer is the period's total. Lowering below what is
/// reserved plus settled is refused (CapRefused).
struct CapLimit {
  BillingPeriod period;
  CustomerId customer;
  Money limit;

  friend bool operator==(const CapLimit&, const CapLimit&) = default;
};

/// Saved state at the unit's last sequence number; always discardable.
struct SnapshotRecord {
  std::uint32_t schema_version = 1;
  std::string payload;

  friend bool operator==(const SnapshotRecord&, const SnapshotRecord&) = default;
};

/// All of it is stored, or nothing. Checked in this order: shape and size, epoch, sequence number
/// and head, claims, marks, caps. A unit without events is legal and fenced alike.
struct CommitUnit {
  PersistenceId persistence_id;
  ShardNr shard;
  Epoch epoch;
  WriterId writer;
  SequenceNr expected;  ///< last stored sequence number the entity has seen
  Digest head;          ///< chain hash at `expected`; zero for an empty history
  Timestamp at;         ///< wall time of the decision

  std::vector<EncodedEvent> events;
  std::vector<RowWrite> rows;
  std::vector<RefundRow> refunds;  ///< each written as a whole, whether it exists or not
  std::vector<Mark> marks;
  std::vector<CapOp> caps;
  std::vector<CapLimit> limits;
  std::optional<SnapshotRecord> snapshot;

  friend bool operator==(const CommitUnit&, const CommitUnit&) = default;
};

/// Durable. `last` and `head` are the entity's new end.
struct Stored {
  SequenceNr last;
  Digest head;
  friend bool operator==(const Stored&, const Stored&) = default;
};
/// The claim exists; here it is.
struct ClaimRefused {
  ObligationRow existing;
  friend bool operator==(const ClaimRefused&, const ClaimRefused&) = default;
};
/// `limit` would be passed by `requested` on top of `used` (reserved + settled), in minor units.
struct CapRefused {
  BillingPeriod period;
  CustomerId customer;  ///< empty: the period's total
  Money limit;
  std::int64_t used_minor = 0;
  std::int64_t requested_minor = 0;
  friend bool operator==(const CapRefused&, const CapRefused&) = default;
};
/// A mark with this scope and key exists; compare its fingerprint.
struct MarkRefused {
  Mark existing;
  friend bool operator==(const MarkRefused&, const MarkRefused&) = default;
};
/// The unit itself is wrong (size, encoding, update of an absent row): a bug or an oversized input.
struct InvalidUnit {
  Error error;
  friend bool operator==(const InvalidUnit&, const InvalidUnit&) = default;
};
/// Somebody else writes here: stop this incarnation.
struct Fenced {
  enum class By : std::uint8_t { sequence, epoch };
  By by = By::sequence;
  friend bool operator==(const Fenced&, const Fenced&) = default;
};
/// It may or may not be stored. Only a replay after the barrier tells; never retry blindly.
struct CommitUnknown {
  Error error;
  friend bool operator==(const CommitUnknown&, const CommitUnknown&) = default;
};

using CommitAnswer =
    std::variant<Stored, ClaimRefused, CapRefused, MarkRefused, InvalidUnit, Fenced, CommitUnknown>;

}  // namespace onceward

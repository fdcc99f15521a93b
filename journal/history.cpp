// Heads, the rolling hash and the check of a replay. The bytes are those of docs/journal-format.md.
#include "journal/history.hpp"

#include <algorithm>
#include <span>
#include <string>

#include <onceward/core/check.hpp>

namespace onceward::journal {
namespace {

std::string_view raw_bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Unexpected broken(const PersistenceId& id, SequenceNr at, const std::string& what) {
  return fail(ErrorCode::store_corrupt, "history of " + id.value() + " at sequence number " +
                                            std::to_string(at.value) + ": " + what +
                                            "; the entity is not replayed, run journal verify");
}

}  // namespace

ManifestText::ManifestText(const Manifest& manifest) noexcept {
  const std::size_t name_bytes = std::min(manifest.name.size(), manifest_name_bytes_max);
  char* end = std::copy_n(manifest.name.data(), name_bytes, buffer_.data());
  *end++ = '/';
  *end++ = 'v';
  const auto written = std::to_chars(end, buffer_.data() + buffer_.size(), manifest.version);
  ONCEWARD_CHECK(written.ec == std::errc(), "a manifest fits its buffer");
  size_ = static_cast<std::size_t>(written.ptr - buffer_.data());
}

Digest head_after(const Digest& before, const CommitUnit& unit, std::size_t index) {
  const EncodedEvent& event = unit.events[index];
  return chain_next(before, {.persistence_id = unit.persistence_id.value(),
                             .sequence_nr = unit.expected.plus(index + 1),
                             .manifest = ManifestText(event.manifest).view(),
                             .payload = event.payload,
                             .epoch = unit.epoch,
                             .writer = unit.writer.value(),
                             .at_ms = unit.at.ms});
}

Digest head_after(const Digest& before, const PersistenceId& id, const StoredEvent& event) {
  return chain_next(before, {.persistence_id = id.value(),
                             .sequence_nr = event.sequence_nr,
                             .manifest = ManifestText(event.event.manifest).view(),
                             .payload = event.event.payload,
                             .epoch = event.epoch,
                             .writer = event.writer.value(),
                             .at_ms = event.at.ms});
}

Digest rolling_after(const Digest& before, const Digest& head) {
  const std::array<std::string_view, 2> parts = {raw_bytes(before), raw_bytes(head)};
  return sha256(std::span<const std::string_view>(parts));
}

Result<Unit> HistoryCheck::take(const PersistenceId& id, const StoredEvent& event) {
  const SequenceNr expected = last_.plus(1);
  if (event.sequence_nr != expected) {
    return broken(id, expected, "found " + std::to_string(event.sequence_nr.value) + " instead");
  }
  if (event.epoch < epoch_) {
    return broken(id, expected,
                  "epoch " + std::to_string(event.epoch.value) + " after epoch " +
                      std::to_string(epoch_.value));
  }
  if (head_after(head_, id, event) != event.head) {
    return broken(id, expected, "the stored bytes do not give the stored hash");
  }
  last_ = event.sequence_nr;
  epoch_ = event.epoch;
  head_ = event.head;
  return ok();
}

Result<Unit> HistoryCheck::end_at(const PersistenceId& id, SequenceNr last,
                                  const Digest& head) const {
  if (last_ != last) {
    return broken(id, last_.plus(1),
                  "missing, the history should end at " + std::to_string(last.value));
  }
  if (head_ != head) return broken(id, last, "the end of the history has another hash");
  return ok();
}

}  // namespace onceward::journal

// Rules of one history that every backend shares: how heads and the rolling hash are computed, and
// the check that a replay runs over each event. Private to journal.
#pragma once

#include <array>
#include <charconv>
#include <string_view>

#include <onceward/core/chain.hpp>
#include <onceward/core/commit_unit.hpp>

namespace onceward::journal {

/// Longest name of a manifest, so that its text fits a buffer on the stack.
inline constexpr std::size_t manifest_name_bytes_max = 128;

/// `<name>/v<version>`, the form in which the chain covers a manifest.
class ManifestText {
 public:
  /// The name has at most manifest_name_bytes_max bytes; a longer one (damaged data) is cut, which
  /// gives another hash than any stored one.
  explicit ManifestText(const Manifest& manifest) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {buffer_.data(), size_}; }

 private:
  std::array<char, manifest_name_bytes_max + 16> buffer_;
  std::size_t size_ = 0;
};

/// Head of the history after one more event of the unit: the `index`-th from 0.
[[nodiscard]] Digest head_after(const Digest& before, const CommitUnit& unit, std::size_t index);
/// Head of the history after a stored event; compare it with the stored one.
[[nodiscard]] Digest head_after(const Digest& before, const PersistenceId& id,
                                const StoredEvent& event);
/// The store-wide rolling hash after one more event.
[[nodiscard]] Digest rolling_after(const Digest& before, const Digest& head);

/// Follows one history from a known place and finds the first break.
class HistoryCheck {
 public:
  /// `head` is the chain at `after`.
  explicit HistoryCheck(SequenceNr after = {}, const Digest& head = {})
      : last_(after), head_(head) {}

  /// store_corrupt naming the entity, the sequence number and what is broken.
  [[nodiscard]] Result<Unit> take(const PersistenceId& id, const StoredEvent& event);
  /// store_corrupt if the history should end elsewhere than after the events taken so far.
  [[nodiscard]] Result<Unit> end_at(const PersistenceId& id, SequenceNr last,
                                    const Digest& head) const;

 private:
  SequenceNr last_;
  Digest head_;
  Epoch epoch_;
};

}  // namespace onceward::journal

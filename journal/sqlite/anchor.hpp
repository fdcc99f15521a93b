// The anchor file: how far a store had come, written down outside of it. Private to journal; the
// format and what the anchor can and cannot show are in docs/journal-format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <onceward/core/digest.hpp>
#include <onceward/core/result.hpp>
#include <onceward/journal/store_files.hpp>

namespace onceward::journal::sqlite {

struct Anchor {
  std::string store_id;
  std::uint64_t commit_count = 0;
  std::uint64_t last_position = 0;
  Digest rolling;

  friend bool operator==(const Anchor&, const Anchor&) = default;
};

[[nodiscard]] std::string to_text(const Anchor& anchor);

/// Absent if none was ever written; store_restored if it cannot be read as an anchor.
[[nodiscard]] Result<std::optional<Anchor>> read_anchor(const StoreFiles& files);

/// Replaces it as a whole; durable when it returns.
[[nodiscard]] Result<Unit> write_anchor(const StoreFiles& files, const Anchor& anchor);

}  // namespace onceward::journal::sqlite

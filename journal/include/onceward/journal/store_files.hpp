// StoreFiles: where the files of an SQLite store lie, and AnchorPlace, the port behind which its
// anchor lies. Production names a path; tests and the harness bring file systems of their own.
#pragma once

#include <optional>
#include <string>

#include <onceward/core/result.hpp>

namespace onceward::journal {

/// Keeps the anchor of a store: the text that says how far the store had come, held outside of the
/// database so that a store that was put back is noticed. One thread at a time; may block.
class AnchorPlace {
 public:
  virtual ~AnchorPlace() = default;
  /// The newest text of the store at `path`; absent if none was ever written. store_io if it cannot
  /// be told.
  [[nodiscard]] virtual Result<std::optional<std::string>> read(const std::string& path) = 0;
  /// Replaces the text as a whole: a crash leaves the old one or the new one. Durable when it
  /// returns; store_full or store_io if it may not be.
  [[nodiscard]] virtual Result<Unit> replace(const std::string& path, const std::string& text) = 0;
};

struct StoreFiles {
  /// Database file; its directory must exist and be writable. The lock file is `<path>.lock`.
  std::string path;
  /// Name of a registered SQLite VFS that holds the database; empty = the default one.
  std::string vfs{};
  /// Borrowed, must outlive the store; null = the file `<path>.anchor`.
  AnchorPlace* anchors = nullptr;
};

}  // namespace onceward::journal

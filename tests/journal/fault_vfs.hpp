// An SQLite VFS that passes everything to the default one and fails chosen syncs and writes, as a
// disk does that returns errors: what was written before the failure stays in the file.
#pragma once

#include <string>

namespace onceward::journal::testing {

/// Counts and fails operations of one kind on files whose name ends with a suffix. One for the
/// whole program; tests reset it. Not for concurrent tests.
class FaultVfs {
 public:
  /// Registers the VFS at the first call. Its name is for SqliteJournalOptions::vfs.
  static const char* name();

  enum class Operation { sync, write, read };
  /// From now on the `nth` matching operation (from 1) fails with an I/O error, and the `more`
  /// matching ones after it. A failed write with `is_torn` leaves the first half of its bytes.
  static void fail(Operation operation, const std::string& suffix, int nth, int more = 0,
                   bool is_torn = false);
  /// Every write fails as if the disk were full, until heal().
  static void fill_disk();
  static void heal();
  /// Failures since the last heal().
  static int failures();
  /// Matching operations seen since the last fail().
  static int seen();
};

}  // namespace onceward::journal::testing

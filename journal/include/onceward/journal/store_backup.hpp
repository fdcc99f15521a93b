// Backup and restore of an SQLite store. A backup is one file without an anchor beside it, so that
// whatever is started on it, or on a copy of it, knows that it is not the newest state.
#pragma once

#include <cstdint>
#include <string>

#include <onceward/core/result.hpp>
#include <onceward/journal/store_files.hpp>

namespace onceward::journal {

struct BackupReport {
  std::uint64_t commit_count = 0;  ///< of the state that the copy holds
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

/// Copies a live or stopped store into the new file `to`: one consistent state, not older than the
/// moment of the call, verified (chain, digests, anchor) before it gets its name. The node goes on
/// writing meanwhile. Durable when it returns; on failure nothing is at `to`. Errors: conflict if
/// `to` exists; not_found, store_io, store_full, store_corrupt (the store does not verify: the
/// first finding is told) otherwise. Blocks on disk.
[[nodiscard]] Result<BackupReport> backup_store(const StoreFiles& store, const std::string& to);

/// Puts the backup in the place of a store that is not there any more, verified before and durable
/// after. The anchor of the lost store is left as it is. Either way the next start refuses with
/// store_restored: the provider may hold charges that the backup does not know, and a node that
/// bills before they are known charges them again. Errors: store_locked (a node runs), conflict (a
/// store is still there: move it away, its events are needed for the reconciliation), not_found,
/// store_corrupt, store_io, store_full.
[[nodiscard]] Result<BackupReport> restore_store(const std::string& backup,
                                                 const StoreFiles& store);

/// Ends the refusal after a reconciliation has found every charge of the provider that the store
/// lacks: writes the anchor of the state that is there. The caller states that this happened; `why`
/// (who, when and for what reason) is kept among the recorded values as `accepted_restore`. The
/// same errors as opening; conflict if the store was not refused.
[[nodiscard]] Result<Unit> accept_restored(const StoreFiles& store, const std::string& why);

}  // namespace onceward::journal

// Comparing a store with what was written down outside of it.
#include "journal/sqlite/anchor_check.hpp"

#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_columns.hpp"

namespace onceward::journal::sqlite {

Unexpected restored(const std::string& path, const std::string& what) {
  return fail(ErrorCode::store_restored,
              path + " is not the newest state of this store (" + what +
                  "): the provider may hold charges that it does not know. Put the newest files "
                  "back together (" +
                  path + ", -wal and .anchor), or run `onceward reconcile run` before billing");
}

Result<Unit> expect_never_used(const StoreFiles& files) {
  const auto anchor = read_anchor(files);
  if (!anchor.has_value()) return Unexpected{anchor.error()};
  if (*anchor && (*anchor)->commit_count > 0) {
    return restored(files.path, "it is empty, its anchor knows of " +
                                    std::to_string((*anchor)->commit_count) + " commits");
  }
  return ok();
}

Result<Unit> compare_with_anchor(const std::optional<Anchor>& anchor, const StoreUnderCheck& store,
                                 platform::SqliteConnection& connection) {
  const std::uint64_t commit_count = store.state.commit_count;
  if (!anchor) {
    return commit_count == 0 ? Result<Unit>(ok()) : restored(store.path, "its anchor is missing");
  }
  if (anchor->store_id != store.store_id) {
    // A creation that was cut off before its anchor, beside the anchor of an unused store.
    if (commit_count == 0 && anchor->commit_count == 0) return ok();
    return restored(store.path, "its anchor belongs to another store");
  }
  if (commit_count < anchor->commit_count) {
    return restored(store.path, "it has " + std::to_string(commit_count) +
                                    " commits, its anchor knows of " +
                                    std::to_string(anchor->commit_count));
  }
  bool is_same = false;
  auto read = for_each_row(
      connection,
      "SELECT 1 FROM commits WHERE commit_count = ?1 AND last_position = ?2 AND rolling = ?3",
      [&](const platform::SqliteStatement&) -> Result<Go> {
        is_same = true;
        return Go::stop;
      },
      anchor->commit_count, anchor->last_position, bytes_of(anchor->rolling));
  if (!read.has_value() || is_same) return read;
  return restored(store.path, "at commit " + std::to_string(anchor->commit_count) +
                                  " it holds something else than its anchor");
}

}  // namespace onceward::journal::sqlite

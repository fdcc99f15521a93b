// The inbox as an operator reads it: objects at the provider that hints told of and no obligation
// of ours accounts for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <onceward/billing/inbox_entity.hpp>
#include <onceward/journal/journal.hpp>

namespace onceward::recovery {

struct InboxPage {
  std::vector<billing::InboxItem> items;
  /// Continue after this object; empty: that was all.
  std::string next;
};

/// Reads the histories of up to `limit` (at least 1) objects after `after` (empty: from the start),
/// ordered by object id. `open_only` leaves out those that an operator has dealt with, so a page
/// may be empty although others follow. A history that does not replay or decode ends the read with
/// its error. Blocks on disk.
[[nodiscard]] Result<InboxPage> read_inbox(journal::JournalReader& reader, const std::string& after,
                                           std::size_t limit, bool open_only);

/// One object; not_found if no hint about it was stored.
[[nodiscard]] Result<billing::InboxItem> read_inbox_item(journal::JournalReader& reader,
                                                         const std::string& object);

}  // namespace onceward::recovery

// Reading attention out of a store: all items in one order, or one by its id. Blocks on disk;
// activates nobody.
#pragma once

#include <functional>
#include <optional>

#include <onceward/core/result.hpp>
#include <onceward/journal/journal.hpp>

#include "ingress/attention/attention_item.hpp"

namespace onceward::ingress {

/// When the walk is made, and how long others may be waited for.
struct AttentionView {
  AttentionDeadlines deadlines;
  Timestamp now;
};

/// Feeds every item that matches, quarantines first, then the inbox, refunds and obligations, each
/// in the order of is_before(). store_* if it cannot be read.
[[nodiscard]] Result<Unit> for_each_attention(journal::JournalReader& reader,
                                              const AttentionView& view,
                                              const AttentionFilter& filter,
                                              const std::function<void(AttentionItem&&)>& sink);

/// Absent if nobody has to look at it (any more).
[[nodiscard]] Result<std::optional<AttentionItem>> find_attention(journal::JournalReader& reader,
                                                                  const AttentionView& view,
                                                                  const AttentionId& id);

/// The order of for_each_attention().
[[nodiscard]] bool is_before(const AttentionId& a, const AttentionId& b);

}  // namespace onceward::ingress

// Which tables an export carries as they are, and their columns. Private to journal.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// A table whose rows are lines of their own. Events and entities are one line per event; the
/// recorded values are the first line; snapshots are left out (always discardable).
struct ExportTable {
  const char* name;
  const char* order;   ///< the primary key: equal states give equal bytes
  const char* filter;  ///< SQL condition on its rows
  bool is_replaced;    ///< a continuing import removes what is there first
};

// The counter comes last: what it counts must be there before.
inline constexpr std::array<ExportTable, 14> export_tables = {{
    {"epochs", "shard", "1", false},
    {"obligations", "period, customer, purpose", "1", false},
    {"refunds", "customer, period, purpose, number", "1", false},
    {"marks", "scope, key", "1", false},
    {"cap_reservations", "period, customer, purpose, attempt", "1", true},
    {"cap_totals", "period, currency", "1", true},
    {"cap_limits", "period, currency, customer", "1", true},
    {"quarantine", "persistence_id", "1", true},
    {"plans", "id", "hash IS NOT NULL", true},
    {"plan_rows", "plan, customer, purpose",
     "plan IN (SELECT id FROM plans WHERE hash IS NOT NULL)", true},
    {"plan_totals", "plan, currency", "1", true},
    {"plan_skips", "plan, skip_reason", "1", true},
    {"commits", "commit_count", "1", false},
    {"store_state", "id", "1", true},
}};

struct ExportColumn {
  std::string name;
  bool is_blob = false;
};
/// Columns in the order of the schema.
[[nodiscard]] Result<std::vector<ExportColumn>> columns_of(platform::SqliteConnection& connection,
                                                           const char* table);

}  // namespace onceward::journal::sqlite

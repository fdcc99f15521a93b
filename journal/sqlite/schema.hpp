// The newest schema of an SQLite store and the names in it. What each part means is written in
// docs/journal-format.md; change that first. Private to journal.
#pragma once

#include <cstdint>

namespace onceward::journal::sqlite {

inline constexpr std::int64_t application_id = 0x4F4E4345;  // "ONCE"
inline constexpr std::int64_t schema_version = 3;
inline constexpr std::int64_t page_bytes = 4096;

/// Statements that make an empty database a store, to be run in one transaction. Without the
/// recorded values and epochs.
extern const char* const schema_sql;

}  // namespace onceward::journal::sqlite

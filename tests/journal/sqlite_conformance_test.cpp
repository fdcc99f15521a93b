// SqliteJournal passes the conformance suite.
#include <onceward/harness/journal_conformance.hpp>
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {

ONCEWARD_INSTANTIATE_JOURNAL_CONFORMANCE(Sqlite, SqliteBackend);

}  // namespace onceward::journal::testing

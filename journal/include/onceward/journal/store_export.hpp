// A store as lines of JSON, and back: for other programs, and for moving a store between file
// formats. One line per fact; equal states give equal bytes (docs/journal-format.md, "Export").
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include <onceward/core/result.hpp>
#include <onceward/journal/store_files.hpp>

namespace onceward::journal {

struct ExportReport {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;
};

/// Takes one line without its end; an error ends the export with it.
using LineSink = std::function<Result<Unit>(std::string_view)>;

/// Writes one consistent state of a live or stopped store, which goes on meanwhile. Snapshots and
/// unfinished plans are left out. not_found, store_io, store_corrupt as open_read_only(). Blocks on
/// disk; memory does not grow with the store.
[[nodiscard]] Result<ExportReport> export_store(const StoreFiles& store, const LineSink& sink);

struct ImportReport {
  std::uint64_t events = 0;        ///< in the store now
  std::uint64_t added_events = 0;  ///< of these, not there before
};

/// Reads an export into a store that is absent or has no commits, or into one that the export
/// continues: the same store id, and the events that are there are the first of the export. Built
/// beside the store, verified (chain, digests, counters, then `check` on the file's path, e.g. rows
/// against events), and put in its place as a whole: after any failure or crash the store is as it
/// was. The anchor is left as it is, so a store that had none starts only after a reconciliation.
/// Errors: store_locked (a node runs), conflict (the store holds something else, or another program
/// has it open), invalid_argument naming the line, store_corrupt (the chain does not hold),
/// store_schema_newer, store_io, store_full.
[[nodiscard]] Result<ImportReport> import_store(
    std::istream& lines, const StoreFiles& store,
    const std::function<Result<Unit>(const std::string&)>& check);

}  // namespace onceward::journal

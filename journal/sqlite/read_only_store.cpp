// open_read_only(): a stopped or live store for verbs that only look.
#include <onceward/journal/sqlite_journal.hpp>

#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/plan_tables.hpp"
#include "journal/sqlite/reader.hpp"

namespace onceward::journal {

Result<ReadOnlyStore> open_read_only(const StoreFiles& files) {
  const std::string& path = files.path;
  if (!sqlite::is_present(files)) {
    return fail(ErrorCode::not_found, "there is no store at " + path);
  }
  auto connection = sqlite::connect_reader(path, files.vfs);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  const auto kind = sqlite::recognize(*connection, path);
  if (!kind.has_value()) return Unexpected{kind.error()};
  if (*kind == sqlite::FileKind::empty) {
    return fail(ErrorCode::not_found, path + " is empty: no store was created there yet");
  }
  auto recorded = sqlite::recorded_values(*connection);
  if (!recorded.has_value()) return Unexpected{std::move(recorded).error()};
  auto reader = sqlite::make_reader(path, files.vfs, recorded->identity.shards, nullptr);
  if (!reader.has_value()) return Unexpected{std::move(reader).error()};
  auto plans = sqlite::make_plan_store(path, files.vfs, nullptr);
  if (!plans.has_value()) return Unexpected{std::move(plans).error()};
  return ReadOnlyStore{recorded->identity, std::move(reader).value(), std::move(plans).value()};
}

}  // namespace onceward::journal

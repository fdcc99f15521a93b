// open_read_only(): a stopped or live store for verbs that only look.
#include <filesystem>

#include <onceward/journal/sqlite_journal.hpp>

#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/plan_tables.hpp"
#include "journal/sqlite/reader.hpp"

namespace onceward::journal {

Result<ReadOnlyStore> open_read_only(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::not_found, "there is no store at " + path);
  }
  auto connection = sqlite::connect_reader(path, {});
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  const auto kind = sqlite::recognize(*connection, path);
  if (!kind.has_value()) return Unexpected{kind.error()};
  if (*kind == sqlite::FileKind::empty) {
    return fail(ErrorCode::not_found, path + " is empty: no store was created there yet");
  }
  auto recorded = sqlite::recorded_values(*connection);
  if (!recorded.has_value()) return Unexpected{std::move(recorded).error()};
  auto reader = sqlite::make_reader(path, {}, recorded->identity.shards, nullptr);
  if (!reader.has_value()) return Unexpected{std::move(reader).error()};
  auto plans = sqlite::make_plan_store(path, {}, nullptr);
  if (!plans.has_value()) return Unexpected{std::move(plans).error()};
  return ReadOnlyStore{recorded->identity, std::move(reader).value(), std::move(plans).value()};
}

}  // namespace onceward::journal

// The only translation unit between SqliteConnection's users and the C interface of SQLite.
#include <onceward/platform/sqlite.hpp>

#include <sqlite3.h>

#include <limits>

namespace onceward::platform {
namespace {

constexpr std::size_t shown_sql_bytes_max = 60;

ErrorCode error_code_of(int result_code) {
  switch (result_code & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::store_full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::store_corrupt;
    default:
      return ErrorCode::store_io;
  }
}

Error describe(sqlite3* connection, int result_code, std::string_view attempted) {
  const char* const file = sqlite3_db_filename(connection, "main");
  std::string context = file != nullptr && *file != '\0' ? file : "database";
  context += ": ";
  context += sqlite3_errmsg(connection);
  context += " (SQLite code " + std::to_string(result_code) + ")";
  if (!attempted.empty()) {
    context += " at: ";
    context += attempted.substr(0, shown_sql_bytes_max);
  }
  return Error{error_code_of(result_code), std::move(context)};
}

/// Without its statistics SQLite takes no process-wide lock for each piece of memory. It refuses
/// this if somebody in the process used it before; then nothing changes.
void configure_once() {
  [[maybe_unused]] static const int outcome = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Length as SQLite takes it; texts and blobs beyond 2 GiB are refused by every caller long before.
int length_of(std::size_t size) {
  ONCEWARD_CHECK(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                 "a value fits SQLite's length");
  return static_cast<int>(size);
}

void expect_bound(int result_code) {
  ONCEWARD_CHECK(result_code == SQLITE_OK, "the statement has this parameter and is not running");
}

}  // namespace

void SqliteStatement::Finalizer::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);  // repeats the result of the last step, which was told before
}

SqliteStatement::Step SqliteStatement::step() noexcept {
  is_running_ = true;
  failure_ = 0;
  const int result_code = sqlite3_step(statement_.get());
  if (result_code == SQLITE_ROW) return Step::row;
  if (result_code != SQLITE_DONE) failure_ = result_code;
  // The reset keeps the connection's message, which error() still has to show.
  sqlite3_reset(statement_.get());
  is_running_ = false;
  return result_code == SQLITE_DONE ? Step::done : Step::failed;
}

Result<Unit> SqliteStatement::run() {
  const Step outcome = step();
  if (outcome == Step::failed) return Unexpected{error()};
  reset();
  return ok();
}

void SqliteStatement::reset() noexcept {
  if (!is_running_) return;
  sqlite3_reset(statement_.get());
  is_running_ = false;
}

std::int64_t SqliteStatement::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view SqliteStatement::text(int column) const noexcept {
  const auto* const bytes =
      reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::span<const std::uint8_t> SqliteStatement::blob(int column) const noexcept {
  const auto* const bytes =
      static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool SqliteStatement::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::optional<std::int64_t> SqliteStatement::optional_integer(int column) const noexcept {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

Error SqliteStatement::error() const {
  return describe(sqlite3_db_handle(statement_.get()), failure_, sqlite3_sql(statement_.get()));
}

void SqliteStatement::bind_integer(int index, std::int64_t value) {
  expect_bound(sqlite3_bind_int64(statement_.get(), index, value));
}

void SqliteStatement::bind_text(int index, std::string_view value) {
  // A null pointer would bind NULL; an empty text is a text.
  const char* const bytes = value.data() == nullptr ? "" : value.data();
  expect_bound(
      sqlite3_bind_text(statement_.get(), index, bytes, length_of(value.size()), SQLITE_STATIC));
}

void SqliteStatement::bind_blob(int index, std::span<const std::uint8_t> value) {
  const void* const bytes = value.data() == nullptr ? static_cast<const void*>("") : value.data();
  expect_bound(
      sqlite3_bind_blob(statement_.get(), index, bytes, length_of(value.size()), SQLITE_STATIC));
}

void SqliteStatement::bind_null(int index) {
  expect_bound(sqlite3_bind_null(statement_.get(), index));
}

void SqliteConnection::Closer::operator()(sqlite3* connection) const noexcept {
  // v2: a statement that outlives us by mistake keeps the handle alive instead of dangling.
  sqlite3_close_v2(connection);
}

Result<SqliteConnection> SqliteConnection::open(const SqliteOptions& options) {
  configure_once();
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (options.open) {
    case SqliteOpen::create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case SqliteOpen::existing:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case SqliteOpen::read_only:
      flags |= SQLITE_OPEN_READONLY;
      break;
  }
  sqlite3* handle = nullptr;
  const int result_code = sqlite3_open_v2(options.path.c_str(), &handle, flags,
                                          options.vfs.empty() ? nullptr : options.vfs.c_str());
  ONCEWARD_CHECK(handle != nullptr, "memory for a connection");
  SqliteConnection connection(handle);
  if (result_code != SQLITE_OK) {
    Error error = describe(handle, result_code, "open");
    error.context = options.path + ": " + error.context;
    return Unexpected{std::move(error)};
  }
  sqlite3_busy_timeout(handle, static_cast<int>(options.busy_timeout.count()));
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return connection;
}

Result<Unit> SqliteConnection::execute(const std::string& sql) {
  const int result_code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result_code != SQLITE_OK) return Unexpected{describe(connection_.get(), result_code, sql)};
  return ok();
}

Result<SqliteStatement> SqliteConnection::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  const int result_code = sqlite3_prepare_v3(connection_.get(), sql.data(), length_of(sql.size()),
                                             SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  if (result_code != SQLITE_OK) return Unexpected{describe(connection_.get(), result_code, sql)};
  ONCEWARD_CHECK(handle != nullptr, "the SQL text holds a statement");
  return SqliteStatement(handle);
}

Result<SqliteStatement*> SqliteConnection::cached(std::string_view sql) {
  std::string text(sql);
  const auto found = cache_.find(text);
  if (found != cache_.end()) {
    found->second->reset();
    return found->second.get();
  }
  auto prepared = prepare(sql);
  if (!prepared.has_value()) return Unexpected{std::move(prepared).error()};
  auto owned = std::make_unique<SqliteStatement>(std::move(prepared).value());
  return cache_.emplace(std::move(text), std::move(owned)).first->second.get();
}

Result<std::string> SqliteConnection::value(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement.has_value()) return Unexpected{std::move(statement).error()};
  switch (statement->step()) {
    case SqliteStatement::Step::row:
      return std::string(statement->text(0));
    case SqliteStatement::Step::done:
      return fail(ErrorCode::not_found, "no row for: " + std::string(sql));
    case SqliteStatement::Step::failed:
      return Unexpected{statement->error()};
  }
  check_failed("step", __FILE__, __LINE__, "a step gives a row, is done, or failed");
}

bool SqliteConnection::is_in_transaction() const noexcept {
  return sqlite3_get_autocommit(connection_.get()) == 0;
}

std::int64_t SqliteConnection::changes() const noexcept {
  return sqlite3_changes64(connection_.get());
}

std::int64_t SqliteConnection::last_insert_rowid() const noexcept {
  return sqlite3_last_insert_rowid(connection_.get());
}

Error SqliteConnection::error() const {
  return describe(connection_.get(), sqlite3_extended_errcode(connection_.get()), {});
}

}  // namespace onceward::platform

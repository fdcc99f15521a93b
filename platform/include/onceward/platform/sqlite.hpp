// SqliteConnection and SqliteStatement: thin owners of the SQLite handles. No exceptions, no SQL of
// their own, no policy: pragmas and transactions are the caller's. Used by journal and simulator.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <onceward/core/result.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace onceward::platform {

/// What the open may do to the file.
enum class SqliteOpen : std::uint8_t { create, existing, read_only };

struct SqliteOptions {
  std::string path;
  SqliteOpen open = SqliteOpen::create;
  /// Name of a registered VFS; empty = the default one.
  std::string vfs;
  /// How long a statement waits for a lock of another connection before it fails as busy.
  std::chrono::milliseconds busy_timeout{5000};
};

/// One prepared statement. Bind, step until `done`, read columns while on a row. Move-only; must
/// not outlive its connection; same thread rule as the connection.
///
///     auto found = connection.cached("SELECT name FROM t WHERE id = ?1");
///     if (!found) return Unexpected{found.error()};
///     SqliteStatement& statement = **found;
///     statement.bind(7);
///     while (statement.step() == SqliteStatement::Step::row) use(statement.text(0));
class SqliteStatement {
 public:
  /// `failed` leaves the reason in error(). After `done` and `failed` the statement is reset and
  /// may be bound and stepped again.
  enum class Step : std::uint8_t { row, done, failed };

  /// Binds parameters 1, 2, … in order: integers, text, blobs (span of bytes), nullptr, and
  /// std::optional of an integer. Text and blobs are borrowed until the statement is reset, so they
  /// must outlive the stepping. Resets a statement that was left on a row.
  template <class... Values>
  SqliteStatement& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_at(++index, values), ...);
    return *this;
  }

  [[nodiscard]] Step step() noexcept;
  /// Steps once, ignores a row, and resets: for statements that only write.
  [[nodiscard]] Result<Unit> run();
  /// Gives back the row and its locks. Harmless if nothing is running.
  void reset() noexcept;

  /// Columns of the present row, from 0. Text and blobs live until the next step or reset. A value
  /// of another type is converted as SQLite does; NULL reads as 0 and empty.
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] std::string_view text(int column) const noexcept;
  [[nodiscard]] std::span<const std::uint8_t> blob(int column) const noexcept;
  [[nodiscard]] bool is_null(int column) const noexcept;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const noexcept;

  /// Why the last step failed, with the beginning of the SQL. Code by the rule of
  /// SqliteConnection::error().
  [[nodiscard]] Error error() const;
  /// SQLite's extended result code of the last step; 0 (SQLITE_OK) if it did not fail.
  [[nodiscard]] int result_code() const noexcept { return failure_; }

 private:
  friend class SqliteConnection;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

  template <std::integral Integer>
  void bind_at(int index, Integer value) {
    bind_integer(index, static_cast<std::int64_t>(value));
  }
  template <std::convertible_to<std::string_view> Text>
  void bind_at(int index, const Text& value) {
    bind_text(index, value);
  }
  void bind_at(int index, std::span<const std::uint8_t> value) { bind_blob(index, value); }
  void bind_at(int index, std::nullptr_t) { bind_null(index); }
  void bind_at(int index, const std::optional<std::int64_t>& value) {
    value ? bind_integer(index, *value) : bind_null(index);
  }
  void bind_integer(int index, std::int64_t value);
  void bind_text(int index, std::string_view value);
  void bind_blob(int index, std::span<const std::uint8_t> value);
  void bind_null(int index);

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  int failure_ = 0;
  bool is_running_ = false;
};

/// One connection with its cache of prepared statements. Move-only. One thread at a time (no
/// internal mutex); separate connections may be used by separate threads. All calls may block on
/// disk and on locks of other connections.
class SqliteConnection {
 public:
  /// Opens the file with extended result codes, the defensive mode (no writes behind the schema's
  /// back) and untrusted schema. SQLite reads the file lazily: what is wrong with its content shows
  /// at the first statement. The first open of a process switches SQLite's memory statistics off,
  /// unless somebody else has used SQLite before.
  [[nodiscard]] static Result<SqliteConnection> open(const SqliteOptions& options);

  /// Runs one or several statements without parameters, ignoring rows; stops at the first failure.
  [[nodiscard]] Result<Unit> execute(const std::string& sql);
  [[nodiscard]] Result<SqliteStatement> prepare(std::string_view sql);
  /// Prepared at the first call with this text, the same object after that; reset. The pointer
  /// lives as long as the connection.
  [[nodiscard]] Result<SqliteStatement*> cached(std::string_view sql);
  /// First column of the first row as text; not_found if there is no row.
  [[nodiscard]] Result<std::string> value(std::string_view sql);

  /// True between BEGIN and the end of the transaction, whatever ended it.
  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// Rows changed by the last INSERT, UPDATE or DELETE.
  [[nodiscard]] std::int64_t changes() const noexcept;
  [[nodiscard]] std::int64_t last_insert_rowid() const noexcept;
  /// The newest failure as an Error: store_full (no space), store_corrupt (damaged, or no
  /// database), otherwise store_io; the context names file, reason and code.
  [[nodiscard]] Error error() const;
  /// The handle itself, for what has no method here (backup, file controls). Never close it.
  [[nodiscard]] sqlite3* handle() const noexcept { return connection_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* connection) const noexcept;
  };
  explicit SqliteConnection(sqlite3* connection) : connection_(connection) {}

  std::unique_ptr<sqlite3, Closer> connection_;
  // After the connection: the statements are finalized first.
  std::unordered_map<std::string, std::unique_ptr<SqliteStatement>> cache_;
};

}  // namespace onceward::platform

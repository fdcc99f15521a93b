// Log: diagnostics for operators, one line per event on a file descriptor, usually stderr. As JSON
// (one object per line) or as text for a terminal. Not the journal: nothing depends on a log line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace onceward::platform {

enum class LogLevel : std::uint8_t { debug, info, warn, error };
enum class LogStyle : std::uint8_t { json, text };

/// One named value beside the message, e.g. {"run_id", id}. Ids, counts and codes only: never a
/// secret, never personal data. Borrowed for the call.
struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t> value;
};

struct LogOptions {
  LogStyle style = LogStyle::json;
  LogLevel level = LogLevel::info;
  std::string node{};       ///< in every JSON line; empty: left out
  int file_descriptor = 2;  ///< stays open and is not owned
  /// Lines waiting for a slow reader; beyond it the oldest are dropped and counted.
  std::size_t waiting_max = 2048;
};

/// Thread-safe. write() never blocks on the reader of the log: a thread of its own does.
class Log {
 public:
  explicit Log(LogOptions options);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  /// Writes what is waiting, then ends the thread.
  ~Log();

  /// JSON: {"ts","level","logger","node","msg", fields...}; text: `time LEVEL logger: message
  /// name=value`. Control characters and invalid UTF-8 are escaped, so that a line is one line.
  /// Below the level: nothing.
  void write(LogLevel level, std::string_view logger, std::string_view message,
             std::initializer_list<LogField> fields = {});

  void debug(std::string_view logger, std::string_view message,
             std::initializer_list<LogField> fields = {}) {
    write(LogLevel::debug, logger, message, fields);
  }
  void info(std::string_view logger, std::string_view message,
            std::initializer_list<LogField> fields = {}) {
    write(LogLevel::info, logger, message, fields);
  }
  void warn(std::string_view logger, std::string_view message,
            std::initializer_list<LogField> fields = {}) {
    write(LogLevel::warn, logger, message, fields);
  }
  void error(std::string_view logger, std::string_view message,
             std::initializer_list<LogField> fields = {}) {
    write(LogLevel::error, logger, message, fields);
  }

  /// Takes effect at once, on any thread.
  void set_level(LogLevel level) noexcept;
  /// Lines dropped because their reader was too slow.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace onceward::platform

// The text of a log line, without any logging library: escaping and order of the members.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <onceward/platform/log.hpp>

namespace onceward::platform {

/// Everything of a line that is known where it is written.
struct LogRest {
  LogStyle style = LogStyle::json;
  std::string_view logger;
  std::string_view node;
  std::string_view message;
  std::span<const LogField> fields;
};
/// Appends it escaped: for JSON the members after "level", without the closing brace.
void append_rest(std::string& out, const LogRest& rest);

struct LogLine {
  LogStyle style = LogStyle::json;
  std::int64_t at_ms = 0;  ///< since 1970-01-01T00:00:00Z
  std::string_view level;
  std::string_view escaped_rest;
};
/// Appends the whole line with its newline.
void append_line(std::string& out, const LogLine& line);

}  // namespace onceward::platform

// The log: one line per event whatever the text holds, levels, bounded waiting.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <onceward/platform/log.hpp>

#include <array>
#include <string>
#include <vector>

namespace onceward::platform {
namespace {

/// A pipe whose reading end collects what was logged.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_writer();
    ::close(ends_[0]);
  }
  [[nodiscard]] int writer() const { return ends_[1]; }
  [[nodiscard]] int reader() const { return ends_[0]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  std::string read_all() {
    close_writer();
    std::string all;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(ends_[0], buffer.data(), buffer.size())) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::string without_time(std::string line) {
  const auto at = line.find("20");
  return line.replace(at, std::string("2026-08-01T00:00:00.000Z").size(), "TIME");
}

std::string logged(LogStyle style, std::string_view message,
                   std::initializer_list<LogField> fields = {}) {
  Pipe pipe;
  {
    Log log({.style = style,
             .level = LogLevel::info,
             .node = "n1",
             .file_descriptor = pipe.writer(),
             .waiting_max = 64});
    log.warn("http", message, fields);
  }
  return without_time(pipe.read_all());
}

TEST(Log, json_line_has_its_members_in_order) {
  EXPECT_EQ(logged(LogStyle::json, "ready", {{"run_id", "r1"}, {"count", std::int64_t{-3}}}),
            "{\"ts\":\"TIME\",\"level\":\"warn\",\"logger\":\"http\",\"node\":\"n1\","
            "\"msg\":\"ready\",\"run_id\":\"r1\",\"count\":-3}\n");
}

TEST(Log, text_line_is_for_people) {
  EXPECT_EQ(logged(LogStyle::text, "ready", {{"run_id", "r1"}, {"count", std::int64_t{5}}}),
            "TIME WARN  http: ready run_id=r1 count=5\n");
}

TEST(Log, no_text_can_end_the_line_or_the_json) {
  const std::string evil = std::string("a\"b\\c\nd\re\tf\x1b[31m") + '\0' + "\x7f\xc2\x9b" + "z";
  EXPECT_EQ(logged(LogStyle::json, evil),
            "{\"ts\":\"TIME\",\"level\":\"warn\",\"logger\":\"http\",\"node\":\"n1\",\"msg\":"
            "\"a\\\"b\\\\c\\u000ad\\u000de\\u0009f\\u001b[31m\\u0000\\u007f\\u009bz\"}\n");
  const auto text = logged(LogStyle::text, evil);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Log, valid_utf8_passes_and_invalid_bytes_are_escaped) {
  EXPECT_NE(logged(LogStyle::json, "caf\xc3\xa9 \xe2\x82\xac").find("caf\xc3\xa9 \xe2\x82\xac"),
            std::string::npos);
  for (const char* bad :
       {"\xff", "\xc3(", "\xe2\x82", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"}) {
    const auto line = logged(LogStyle::json, bad);
    for (const char c : line) EXPECT_LT(static_cast<unsigned char>(c), 0x80U) << line;
  }
}

TEST(Log, level_can_be_changed_while_running) {
  Pipe pipe;
  {
    Log log({.style = LogStyle::text,
             .level = LogLevel::warn,
             .node = "",
             .file_descriptor = pipe.writer(),
             .waiting_max = 64});
    log.info("t", "hidden one");
    log.set_level(LogLevel::debug);
    log.debug("t", "shown");
    log.set_level(LogLevel::error);
    log.warn("t", "hidden two");
    log.error("t", "shown too");
  }
  const auto text = pipe.read_all();
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_NE(text.find("DEBUG t: shown\n"), std::string::npos) << text;
  EXPECT_NE(text.find("ERROR t: shown too\n"), std::string::npos) << text;
}

TEST(Log, slow_reader_costs_lines_not_time) {
  Pipe pipe;
  constexpr int lines = 20'000;  // far more than pipe and queue hold
  {
    Log log({.style = LogStyle::json,
             .level = LogLevel::info,
             .node = "",
             .file_descriptor = pipe.writer(),
             .waiting_max = 64});
    // Nobody reads yet: without the bound the loop would wait for ever.
    for (int i = 0; i < lines; ++i) log.info("t", "line");
    EXPECT_GT(log.dropped(), 0U);
    // Let the writer thread end: from here on the descriptor takes nothing.
    const int flags = ::fcntl(pipe.writer(), F_GETFL);
    ::fcntl(pipe.writer(), F_SETFL, flags | O_NONBLOCK);
    std::array<char, 65536> buffer{};
    ASSERT_GT(::read(pipe.reader(), buffer.data(), buffer.size()), 0);
  }
}

}  // namespace
}  // namespace onceward::platform

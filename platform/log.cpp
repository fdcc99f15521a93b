// The log on spdlog's asynchronous logger. The only user of spdlog: its pattern formatter does not
// escape messages, so the lines are composed here.
#include <onceward/platform/log.hpp>

#include <spdlog/async.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>

#include "platform/log_text.hpp"

namespace onceward::platform {

namespace {

struct LevelRow {
  LogLevel level;
  spdlog::level::level_enum spdlog_level;
  std::string_view name;
};
constexpr std::array levels = {
    LevelRow{LogLevel::debug, spdlog::level::debug, "debug"},
    LevelRow{LogLevel::info, spdlog::level::info, "info"},
    LevelRow{LogLevel::warn, spdlog::level::warn, "warn"},
    LevelRow{LogLevel::error, spdlog::level::err, "error"},
};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  for (const auto& row : levels) {
    if (row.level == level) return row.spdlog_level;
  }
  return spdlog::level::err;
}

std::string_view level_name(spdlog::level::level_enum level) {
  for (const auto& row : levels) {
    if (row.spdlog_level == level) return row.name;
  }
  return "error";
}

/// The payload is already escaped; time and level are put in front of it.
class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(LogStyle style) : style_(style) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    using std::chrono::duration_cast;
    const auto since_epoch = message.time.time_since_epoch();
    const auto ms = duration_cast<std::chrono::milliseconds>(since_epoch).count();
    std::string line;
    append_line(line, {.style = style_,
                       .at_ms = ms,
                       .level = level_name(message.level),
                       .escaped_rest = {message.payload.data(), message.payload.size()}});
    out.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(style_);
  }

 private:
  LogStyle style_;
};

class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const char* from = line.data();
    std::size_t left = line.size();
    while (left > 0) {
      const ssize_t written = ::write(descriptor_, from, left);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nobody reads the log any more; there is nobody to tell
      from += written;
      left -= static_cast<std::size_t>(written);
    }
  }
  void flush_() override {}

 private:
  int descriptor_;
};

}  // namespace

class Log::Impl {
 public:
  explicit Impl(const LogOptions& options)
      : style(options.style),
        node(options.node),
        // spdlog's asynchronous logger shares pool and sink with the messages on their way.
        pool(std::make_shared<spdlog::details::thread_pool>(options.waiting_max, 1)),
        logger(std::make_shared<spdlog::async_logger>(
            "log", std::make_shared<DescriptorSink>(options.file_descriptor), pool,
            spdlog::async_overflow_policy::overrun_oldest)) {
    logger->set_formatter(std::make_unique<LineFormatter>(style));
    logger->set_level(spdlog_level(options.level));
    logger->set_error_handler([](const std::string&) {});
  }

  const LogStyle style;
  const std::string node;
  const std::shared_ptr<spdlog::details::thread_pool> pool;
  const std::shared_ptr<spdlog::async_logger> logger;
};

Log::Log(LogOptions options) : impl_(std::make_unique<Impl>(options)) {}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view logger, std::string_view message,
                std::initializer_list<LogField> fields) {
  const auto spdlog_lvl = spdlog_level(level);
  if (!impl_->logger->should_log(spdlog_lvl)) return;
  std::string rest;
  append_rest(rest, {.style = impl_->style,
                     .logger = logger,
                     .node = impl_->node,
                     .message = message,
                     .fields = {fields.begin(), fields.size()}});
  impl_->logger->log(spdlog_lvl, spdlog::string_view_t(rest.data(), rest.size()));
}

void Log::set_level(LogLevel level) noexcept {
  impl_->logger->set_level(spdlog_level(level));
}

std::uint64_t Log::dropped() const {
  return impl_->pool->overrun_counter();
}

}  // namespace onceward::platform

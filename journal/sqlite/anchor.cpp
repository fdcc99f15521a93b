// Reads and replaces the anchor file: temporary file, fsync, rename, fsync of the directory.
#include "journal/sqlite/anchor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace onceward::journal::sqlite {
namespace {

constexpr std::string_view first_line = "onceward-anchor 1\n";

Unexpected failed(const std::string& what, const std::string& path, int error_number) {
  const ErrorCode code = error_number == ENOSPC ? ErrorCode::store_full : ErrorCode::store_io;
  return fail(
      code, "anchor: " + what + " " + path + ": " + std::generic_category().message(error_number));
}

/// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

Result<Unit> write_synced(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.number() < 0) return failed("open", path, errno);
  while (!text.empty()) {
    const ssize_t count = ::write(file.number(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file.number()) != 0) return failed("fsync", path, errno);
  return ok();
}

Result<Unit> sync_directory_of(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const Descriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.number() < 0) return failed("open", directory, errno);
  if (::fsync(file.number()) != 0) return failed("fsync", directory, errno);
  return ok();
}

/// Takes `<name> <rest of line>\n` from the front of the text.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(name) || text.size() <= name.size() ||
      text[name.size()] != ' ') {
    return std::nullopt;
  }
  const std::string_view value = text.substr(name.size() + 1, end - name.size() - 1);
  text.remove_prefix(end + 1);
  return value;
}

std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view name) {
  const auto digits = take_line(text, name);
  if (!digits) return std::nullopt;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(digits->data(), digits->data() + digits->size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != digits->data() + digits->size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<Anchor> parse(std::string_view text) {
  if (!text.starts_with(first_line)) return std::nullopt;
  text.remove_prefix(first_line.size());
  const auto store_id = take_line(text, "store");
  const auto commit_count = take_number(text, "commits");
  const auto last_position = take_number(text, "position");
  const auto rolling_text = take_line(text, "rolling");
  if (!store_id || !commit_count || !last_position || !rolling_text || !text.empty()) {
    return std::nullopt;
  }
  const auto rolling = parse_hex_digest(*rolling_text);
  if (!rolling.has_value()) return std::nullopt;
  return Anchor{std::string(*store_id), *commit_count, *last_position, *rolling};
}

/// The anchor as a file beside the database.
class FileAnchorPlace final : public AnchorPlace {
 public:
  Result<std::optional<std::string>> read(const std::string& store_path) override {
    const std::string path = path_for(store_path);
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) return std::optional<std::string>();
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file.good() && !file.eof()) return failed("read", path, errno);
    return std::optional(std::move(text));
  }
  Result<Unit> replace(const std::string& store_path, const std::string& text) override {
    const std::string path = path_for(store_path);
    const std::string temporary = path + ".new";
    if (auto written = write_synced(temporary, text); !written.has_value()) return written;
    if (std::rename(temporary.c_str(), path.c_str()) != 0) return failed("rename", path, errno);
    return sync_directory_of(path);
  }

 private:
  static std::string path_for(const std::string& store_path) { return store_path + ".anchor"; }
};

}  // namespace

std::string to_text(const Anchor& anchor) {
  std::string text(first_line);
  text += "store " + anchor.store_id + "\n";
  text += "commits " + std::to_string(anchor.commit_count) + "\n";
  text += "position " + std::to_string(anchor.last_position) + "\n";
  text += "rolling " + to_hex(anchor.rolling) + "\n";
  return text;
}

Result<std::optional<Anchor>> read_anchor(const StoreFiles& files) {
  FileAnchorPlace beside;
  AnchorPlace& place = files.anchors != nullptr ? *files.anchors : beside;
  const auto text = place.read(files.path);
  if (text.has_value() && !*text) return std::optional<Anchor>();
  std::optional<Anchor> anchor;
  if (text.has_value()) anchor = parse(**text);
  if (!anchor) {
    return fail(ErrorCode::store_restored,
                "anchor " + files.path +
                    ".anchor cannot be read as one, so nobody knows whether the store lost "
                    "commits: put the right file back, or reconcile with the provider before "
                    "billing");
  }
  return anchor;
}

Result<Unit> write_anchor(const StoreFiles& files, const Anchor& anchor) {
  FileAnchorPlace beside;
  AnchorPlace& place = files.anchors != nullptr ? *files.anchors : beside;
  return place.replace(files.path, to_text(anchor));
}

}  // namespace onceward::journal::sqlite

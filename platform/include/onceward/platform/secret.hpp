// Secret: text that must not reach a log, a message or a core dump longer than needed. It has no
// output operator, no comparison and no conversion: whoever reads it says reveal().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace onceward::platform {

/// Move-only, so that the number of places that hold it stays visible. The memory is wiped when the
/// value is dropped or moved away. Not thread-safe; reading from several threads is.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(Secret&& other) noexcept : text_(other.text_) { other.wipe(); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      wipe();
      text_ = other.text_;
      other.wipe();
    }
    return *this;
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { wipe(); }

  [[nodiscard]] bool is_empty() const noexcept { return text_.empty(); }
  /// Valid until the secret is moved or dropped. Never store, log or print what it returns.
  [[nodiscard]] std::string_view reveal() const noexcept { return text_; }

 private:
  void wipe() noexcept {
    // Volatile: else the compiler drops stores that nobody reads.
    volatile char* bytes = text_.data();
    for (std::size_t i = 0; i < text_.size(); ++i) bytes[i] = '\0';
    text_.clear();
  }

  std::string text_;
};

}  // namespace onceward::platform

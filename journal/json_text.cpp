// A strict recognizer: it accepts or refuses and builds nothing. Decoding is the codec's work.
#include "journal/json_text.hpp"

#include <cstddef>
#include <cstdint>

namespace onceward::journal {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Most text is plain: printable ASCII that no rule singles out.
constexpr bool is_plain(char c) {
  return c >= ' ' && c != '"' && c != '\\';  // char is signed: bytes from 0x80 are below ' '
}
static_assert(!is_plain(static_cast<char>(0x80)) && is_plain('\x7f'));

/// Length of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_sequence(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto is_tail = [&](std::size_t at) {
    return at < text.size() && (byte(at) & 0xc0U) == 0x80;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return is_tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!is_tail(1) || !is_tail(2)) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
    if (lead == 0xed && byte(1) > 0x9f) return 0;  // surrogate
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!is_tail(1) || !is_tail(2) || !is_tail(3)) return 0;
    if (lead == 0xf0 && byte(1) < 0x90) return 0;  // overlong
    if (lead == 0xf4 && byte(1) > 0x8f) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

class Recognizer {
 public:
  explicit Recognizer(std::string_view text) : text_(text) {}

  [[nodiscard]] bool whole() {
    if (!value(0)) return false;
    skip_space();
    return at_ == text_.size();
  }

 private:
  [[nodiscard]] bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool take(char c) {
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (is_at(' ') || is_at('\n') || is_at('\r') || is_at('\t')) ++at_;
  }

  bool value(int depth) {
    skip_space();
    if (at_ == text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return depth < json_depth_max && object(depth + 1);
      case '[':
        return depth < json_depth_max && array(depth + 1);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool object(int depth) {
    ++at_;
    skip_space();
    if (take('}')) return true;
    do {
      skip_space();
      if (!string()) return false;
      skip_space();
      if (!take(':') || !value(depth)) return false;
      skip_space();
    } while (take(','));
    return take('}');
  }

  bool array(int depth) {
    ++at_;
    skip_space();
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
      skip_space();
    } while (take(','));
    return take(']');
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  bool digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > start;
  }

  bool number() {
    (void)take('-');  // optional
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (is_at('e') || is_at('E')) {
      ++at_;
      if (!take('+')) (void)take('-');  // optional
      return digits();
    }
    return true;
  }

  bool string() {
    if (!take('"')) return false;
    for (;;) {
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      if (at_ == text_.size()) return false;
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!escape()) return false;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        return false;
      } else {
        const std::size_t length = utf8_sequence(text_.substr(at_));
        if (length == 0) return false;
        at_ += length;
      }
    }
  }

  bool escape() {
    ++at_;
    if (at_ == text_.size()) return false;
    const char kind = text_[at_++];
    if (kind != 'u') return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos;
    if (text_.size() - at_ < 4) return false;
    for (int i = 0; i < 4; ++i) {
      if (!is_hex(text_[at_++])) return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_stored_text(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    if (is_plain(text[at])) {
      ++at;
      continue;
    }
    if (text[at] == '\0') return false;
    const std::size_t length = utf8_sequence(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

bool is_json(std::string_view text) noexcept {
  return Recognizer(text).whole();
}

}  // namespace onceward::journal

// How JsonWriter escapes text.
#include "billing/json_writer.hpp"

namespace onceward::billing {

void JsonWriter::write_text(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out_.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else if (byte < 0x20) {
      out_.append("\\u00");
      out_.push_back(hex[byte >> 4U]);
      out_.push_back(hex[byte & 0xfU]);
    } else {
      out_.push_back(c);
    }
  }
  out_.push_back('"');
}

}  // namespace onceward::billing

// Escaping for JSON and for terminals, and the order of the members.
#include "platform/log_text.hpp"

#include <onceward/core/clock.hpp>

namespace onceward::platform {

namespace {

constexpr std::string_view hex = "0123456789abcdef";

/// Length of the UTF-8 sequence at the start of `text`; 0 if it is none (overlong forms, surrogates
/// and values above U+10FFFF included).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto is_tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  if (first >= 0xc2U && first <= 0xdfU) return is_tail(1) ? 2 : 0;
  if (first >= 0xe0U && first <= 0xefU) {
    if (!is_tail(1) || !is_tail(2)) return 0;
    if (first == 0xe0U && byte(1) < 0xa0U) return 0;
    if (first == 0xedU && byte(1) > 0x9fU) return 0;
    return 3;
  }
  if (first >= 0xf0U && first <= 0xf4U) {
    if (!is_tail(1) || !is_tail(2) || !is_tail(3)) return 0;
    if (first == 0xf0U && byte(1) < 0x90U) return 0;
    if (first == 0xf4U && byte(1) > 0x8fU) return 0;
    return 4;
  }
  return 0;
}

/// The byte in a form that no terminal and no JSON reader takes for anything else.
void append_byte(std::string& out, LogStyle style, unsigned char byte) {
  out += style == LogStyle::json ? "\\u00" : "\\x";
  out += hex[byte >> 4U];
  out += hex[byte & 15U];
}

void append_escaped(std::string& out, LogStyle style, std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    // U+0080 to U+009f are control characters too: some terminals obey them.
    const bool is_c1 = length == 2 && first == 0xc2U && static_cast<unsigned char>(text[1]) < 0xa0U;
    if (first < 0x20U || first == 0x7fU || length == 0) {
      append_byte(out, style, first);
      text.remove_prefix(1);
    } else if (is_c1) {
      append_byte(out, style, static_cast<unsigned char>(text[1]));
      text.remove_prefix(2);
    } else {
      if (style == LogStyle::json && (first == '"' || first == '\\')) out += '\\';
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  append_escaped(out, LogStyle::json, name);
  out += "\":\"";
  append_escaped(out, LogStyle::json, text);
  out += '"';
}

void append_json_rest(std::string& out, const LogRest& rest) {
  append_member(out, "logger", rest.logger);
  if (!rest.node.empty()) append_member(out, "node", rest.node);
  append_member(out, "msg", rest.message);
  for (const auto& field : rest.fields) {
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
      append_member(out, field.name, *text);
      continue;
    }
    out += ",\"";
    append_escaped(out, LogStyle::json, field.name);
    out += "\":" + std::to_string(std::get<std::int64_t>(field.value));
  }
}

void append_text_rest(std::string& out, const LogRest& rest) {
  append_escaped(out, LogStyle::text, rest.logger);
  out += ": ";
  append_escaped(out, LogStyle::text, rest.message);
  for (const auto& field : rest.fields) {
    out += ' ';
    append_escaped(out, LogStyle::text, field.name);
    out += '=';
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
      append_escaped(out, LogStyle::text, *text);
    } else {
      out += std::to_string(std::get<std::int64_t>(field.value));
    }
  }
}

}  // namespace

void append_rest(std::string& out, const LogRest& rest) {
  if (rest.style == LogStyle::json) {
    append_json_rest(out, rest);
  } else {
    append_text_rest(out, rest);
  }
}

void append_line(std::string& out, const LogLine& line) {
  const std::string at = to_iso(Timestamp{line.at_ms});
  if (line.style == LogStyle::json) {
    out += "{\"ts\":\"" + at + "\",\"level\":\"" + std::string(line.level) + "\"";
    out += line.escaped_rest;
    out += "}\n";
    return;
  }
  out += at + " ";
  for (const char c : line.level) out += static_cast<char>(c - 'a' + 'A');
  out.append(line.level.size() < 5 ? 6 - line.level.size() : 1, ' ');
  out += line.escaped_rest;
  out += '\n';
}

}  // namespace onceward::platform

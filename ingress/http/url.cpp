// Percent-encoding and its traps.
#include "ingress/http/url.hpp"

#include <algorithm>

namespace onceward::ingress {

namespace {

std::optional<unsigned> hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
  return std::nullopt;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = hex_value(text[i + 1]);
    const auto low = hex_value(text[i + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16U + *low);
    i += 2;
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += hex[byte >> 4U];
    out += hex[byte & 15U];
  }
  return out;
}

Result<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> segments;
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  while (true) {
    const auto slash = path.find('/');
    auto segment = percent_decode(path.substr(0, slash));
    if (!segment) {
      return fail(ErrorCode::invalid_argument,
                  "the path holds a '%' that two hex digits do not follow; write it as %25");
    }
    segments.push_back(std::move(*segment));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

Result<Query> Query::parse(std::string_view text, const std::vector<std::string_view>& known) {
  Query query;
  while (!text.empty()) {
    const auto end = text.find('&');
    const auto member = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (member.empty()) continue;
    const auto equals = member.find('=');
    auto name = percent_decode(member.substr(0, equals));
    auto value = percent_decode(equals == std::string_view::npos ? "" : member.substr(equals + 1));
    if (!name || !value) {
      return fail(ErrorCode::invalid_argument,
                  "the query holds a '%' that two hex digits do not follow; write it as %25");
    }
    if (std::find(known.begin(), known.end(), *name) == known.end()) {
      std::string accepted;
      for (const auto& k : known) accepted += (accepted.empty() ? "" : ", ") + std::string(k);
      return fail(ErrorCode::invalid_argument,
                  "the query holds an unknown member" +
                      (accepted.empty() ? "; none is accepted here" : "; accepted: " + accepted));
    }
    if (query.find(*name)) {
      return fail(ErrorCode::invalid_argument, "the query holds " + *name + " twice");
    }
    query.members_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [key, value] : members_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace onceward::ingress

// Parsers of header values, and the date of answers.
#include "ingress/http/header_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace onceward::ingress {

namespace {

constexpr std::string_view key_header = "Idempotency-Key";
constexpr std::size_t key_length_max = 255;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The content of `"..."`; absent if it is not one well-formed string to the end.
std::optional<std::string> unquote(std::string_view text) {
  std::string out;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') return i + 1 == text.size() ? std::optional(out) : std::nullopt;
    if (c < ' ' || c > '~') return std::nullopt;
    if (c == '\\') {
      if (++i >= text.size() || (text[i] != '"' && text[i] != '\\')) return std::nullopt;
    }
    out += text[i];
  }
  return std::nullopt;
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

Result<std::string> parse_idempotency_key(const std::vector<platform::HttpHeader>& headers) {
  const auto refuse = [](std::string_view why) {
    return fail(ErrorCode::invalid_argument, std::string(key_header) + " " + std::string(why));
  };
  const auto count = platform::count_headers(headers, key_header);
  if (count == 0) {
    return refuse("is missing: choose one value per request, keep it, and repeat it in retries");
  }
  if (count > 1) return refuse("was sent twice; send it once");
  const auto value = trimmed(*platform::find_header(headers, key_header));
  std::string key(value);
  if (!value.empty() && value.front() == '"') {
    auto unquoted = unquote(value);
    if (!unquoted) return refuse("is not a well-formed quoted string");
    key = std::move(*unquoted);
  }
  if (key.empty()) return refuse("is empty; it must have 1 to 255 visible characters");
  if (key.size() > key_length_max) return refuse("is too long; at most 255 characters are kept");
  if (!is_visible(key)) return refuse("must consist of visible ASCII characters, without blanks");
  return key;
}

std::optional<std::int64_t> parse_wait_seconds(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  (void)end;  // all digits: it is the end
  if (error == std::errc::result_out_of_range) return wait_seconds_max;
  return std::min(seconds, wait_seconds_max);
}

Wait parse_prefer_wait(const std::vector<platform::HttpHeader>& headers) {
  for (const auto& header : headers) {
    if (platform::count_headers({header}, "Prefer") == 0) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      const auto preference = trimmed(rest.substr(0, rest.substr(0, comma).find(';')));
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
      const auto equals = preference.find('=');
      if (equals == std::string_view::npos) continue;
      std::string name(trimmed(preference.substr(0, equals)));
      for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      }
      if (name != "wait") continue;
      const auto seconds = parse_wait_seconds(trimmed(preference.substr(equals + 1)));
      if (seconds) return {.seconds = *seconds, .was_asked = true};
    }
  }
  return {};
}

std::string http_date(Timestamp at) {
  using std::chrono::floor;
  constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds{at.ms}};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const auto weekday = std::chrono::weekday{day}.c_encoding();
  // The middle of the ISO form is what this one has too.
  const std::string iso = to_iso(at);
  return std::string(days[weekday]) + ", " + iso.substr(8, 2) + " " +
         months[static_cast<unsigned>(date.month()) - 1] + " " + iso.substr(0, 4) + " " +
         iso.substr(11, 8) + " GMT";
}

}  // namespace onceward::ingress

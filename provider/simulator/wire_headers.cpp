// Authorization, Idempotency-Key and Date.
#include "provider/simulator/wire_headers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "provider/simulator/form.hpp"
#include "provider/simulator/key_store.hpp"

namespace onceward::provider::simulator {
namespace {

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

std::string decode_base64(std::string_view text) {
  static constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) break;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xffU));
    }
  }
  return out;
}

}  // namespace

std::string secret_of(std::string_view authorization) {
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view scheme = authorization.substr(0, space);
  const std::string_view value = authorization.substr(space + 1);
  if (equal_ignoring_case(scheme, "bearer")) return std::string(value);
  if (!equal_ignoring_case(scheme, "basic")) return {};
  const std::string pair = decode_base64(value);
  return pair.substr(0, pair.find(':'));
}

std::optional<std::string> find_header(const WireHeaders& headers, std::string_view name) {
  for (const auto& [known, value] : headers) {
    if (equal_ignoring_case(known, name)) return value;
  }
  return std::nullopt;
}

std::size_t count_headers(const WireHeaders& headers, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [&](const auto& header) { return equal_ignoring_case(header.first, name); }));
}

std::string to_http_date(Timestamp at) {
  namespace chrono = std::chrono;
  static constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed",
                                                      "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const chrono::sys_seconds second{chrono::floor<chrono::seconds>(chrono::milliseconds(at.ms))};
  const auto day = chrono::floor<chrono::days>(second);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss<chrono::seconds> time(second - day);
  std::array<char, 64> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
      days[chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
      months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

KeyHeader read_key_header(const WireHeaders& headers) {
  const auto key = find_header(headers, "idempotency-key");
  if (!key) return {};
  if (count_headers(headers, "idempotency-key") > 1) {
    return {std::nullopt, invalid_param("", "", "The Idempotency-Key header was sent twice.")};
  }
  if (key->empty()) {
    return {std::nullopt, invalid_param("", "", "The Idempotency-Key header is empty.")};
  }
  if (key->size() > key_length_max) {
    return {std::nullopt, invalid_param("", "", "An idempotency key has at most 255 characters.")};
  }
  if (!is_utf8(*key)) {
    return {std::nullopt, invalid_param("", "", "The Idempotency-Key header is no text.")};
  }
  return {key, std::nullopt};
}

}  // namespace onceward::provider::simulator

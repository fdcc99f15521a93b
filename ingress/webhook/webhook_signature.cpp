// Parsing the header strictly, then comparing.
#include <onceward/ingress/webhook_signature.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include <onceward/core/digest.hpp>

namespace onceward::ingress {

namespace {

constexpr std::string_view blanks = " \t\r";
/// Beyond this the milliseconds of a time would not fit; the year is 2286.
constexpr std::int64_t unix_seconds_max = 9'999'999'999;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

Unexpected refuse(std::string why) {
  return fail(ErrorCode::unauthorized, std::string(signature_header) + ": " + std::move(why));
}

struct Signature {
  std::string_view time;  ///< as it was written: these bytes are signed
  std::int64_t time_s = 0;
  std::vector<std::string_view> values;  ///< of scheme v1
};

std::optional<std::int64_t> parse_time(std::string_view text) {
  // from_chars takes a minus sign; a leading zero would be another spelling of the same time.
  if (text.empty() || text.front() < '1' || text.front() > '9') return std::nullopt;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds > unix_seconds_max) {
    return std::nullopt;
  }
  return seconds;
}

Result<Signature> parse_signature(std::string_view header) {
  if (trimmed(header).empty()) return refuse("is missing or empty");
  if (header.size() > signature_header_bytes_max) return refuse("is too long");
  Signature signature;
  for (std::string_view rest = header; !rest.empty();) {
    const auto comma = rest.find(',');
    const auto part = trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) return refuse("is not a list of name=value");
    const auto name = part.substr(0, equals);
    const auto value = part.substr(equals + 1);
    if (name == "t") {
      // Of two times, one would be checked and the other one signed.
      if (!signature.time.empty()) return refuse("holds two times t");
      const auto time_s = parse_time(value);
      if (!time_s) return refuse("its time t is not a number of seconds");
      signature.time = value;
      signature.time_s = *time_s;
    } else if (name == "v1") {
      if (signature.values.size() == signature_values_max)
        return refuse("holds too many v1 values");
      signature.values.push_back(value);
    }
  }
  if (signature.time.empty()) return refuse("its time t is missing");
  if (signature.values.empty()) return refuse("holds no v1 value; other schemes prove nothing");
  return signature;
}

/// HMAC over the concatenation, with the body copied once.
std::string expected_hex(const platform::Secret& secret, std::string_view signed_bytes) {
  return to_hex(hmac_sha256(secret.reveal(), signed_bytes));
}

}  // namespace

Result<WebhookSecrets> WebhookSecrets::parse(std::string_view lines) {
  const auto refuse_lines = [](const std::string& why) {
    return fail(ErrorCode::invalid_config, "the webhook secret " + why);
  };
  WebhookSecrets secrets;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    const auto line = trimmed(lines.substr(0, end));
    lines = end == std::string_view::npos ? "" : lines.substr(end + 1);
    if (line.empty()) continue;
    if (!is_visible(line)) {
      return refuse_lines("must consist of visible characters, one secret per line");
    }
    if (secrets.secrets_.size() == secrets_max) return refuse_lines("file holds more than 4 lines");
    secrets.secrets_.emplace_back(std::string(line));
  }
  if (secrets.is_empty()) return refuse_lines("is empty; copy the endpoint's whsec_... into it");
  return secrets;
}

Result<Unit> verify_signature(const SignedBody& message, const WebhookSecrets& secrets,
                              Timestamp now) {
  const auto signature = parse_signature(message.header);
  if (!signature) return Unexpected{signature.error()};
  std::string signed_bytes;
  signed_bytes.reserve(signature->time.size() + 1 + message.body.size());
  signed_bytes.append(signature->time).append(1, '.').append(message.body);
  bool is_ours = false;
  for (const auto& secret : secrets.all()) {
    const std::string expected = expected_hex(secret, signed_bytes);
    // All of them, so that time does not tell which one it was.
    for (const auto value : signature->values) is_ours |= equal_constant_time(expected, value);
  }
  if (!is_ours) {
    return refuse(
        "no v1 value fits the body and any configured secret; compare the secret with "
        "the endpoint's, and let nothing between change the body");
  }
  const std::int64_t age_ms = now.ms - signature->time_s * 1000;
  const std::int64_t tolerance_ms = std::chrono::milliseconds(signature_tolerance).count();
  if (age_ms > tolerance_ms) {
    return refuse("was signed " + std::to_string(age_ms / 1000) +
                  " s ago; at most 300 s are accepted (is this node's clock right?)");
  }
  if (age_ms < -tolerance_ms) {
    return refuse("was signed " + std::to_string(-age_ms / 1000) +
                  " s in the future; at most 300 s are accepted (is this node's clock right?)");
  }
  return ok();
}

}  // namespace onceward::ingress

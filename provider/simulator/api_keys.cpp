// Implementation of ApiKeys.
#include "provider/simulator/api_keys.hpp"

#include "provider/simulator/wire_headers.hpp"

namespace onceward::provider::simulator {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  return text.substr(0, prefix.size()) == prefix;
}

/// As much of a secret as an error message may show.
std::string masked(const std::string& secret) {
  const std::size_t prefix = secret.find('_', 3);
  if (prefix == std::string::npos || secret.size() < prefix + 9) return "(not shown)";
  return secret.substr(0, prefix + 1) + "********" + secret.substr(secret.size() - 4);
}

/// "payment_intents" of "/v1/payment_intents/pi_1/confirm".
std::string resource_of(std::string_view path) {
  if (!starts_with(path, "/v1/")) return {};
  path.remove_prefix(4);
  return std::string(path.substr(0, path.find('/')));
}

std::optional<ApiError> check_permission(const ApiKey& key, const std::string& secret,
                                         std::string_view method, std::string_view path) {
  const std::string resource = resource_of(path);
  const Permission needed = method == "GET" ? Permission::read : Permission::write;
  const auto found = key.permissions.find(resource);
  const Permission given = found == key.permissions.end() ? Permission::none : found->second;
  if (given >= needed) return std::nullopt;
  ApiError error;
  error.status = 403;
  error.message = "The provided key '" + masked(secret) +
                  "' does not have the required permissions for this endpoint. Having the '" +
                  resource + (needed == Permission::read ? "_read" : "_write") +
                  "' permission would allow this request to continue.";
  return error;
}

}  // namespace

std::optional<ApiError> ApiKeys::check(const WireHeaders& headers, std::string_view method,
                                       std::string_view path, Timestamp now) const {
  const auto authorization = find_header(headers, "authorization");
  if (!authorization) {
    return unauthorized("No API key: send Authorization: Bearer sk_test_... (any test key).");
  }
  const std::string secret = secret_of(*authorization);
  const auto known = keys_.find(secret);
  if (known != keys_.end()) {
    const ApiKey& key = known->second;
    if (key.expires_at && now >= *key.expires_at) {
      ApiError error = unauthorized("Expired API key: " + masked(secret));
      error.code = "api_key_expired";
      return error;
    }
    if (!starts_with(secret, "rk_")) return std::nullopt;
    return check_permission(key, secret, method, path);
  }
  for (const std::string_view prefix : {"sk_test", "rk_test"}) {
    if (starts_with(secret, prefix)) return std::nullopt;
  }
  if (starts_with(secret, "sk_live") || starts_with(secret, "rk_live")) {
    return unauthorized("This is a simulator: it refuses live keys. Send sk_test_... instead.");
  }
  return unauthorized("Invalid API key: send one that begins with sk_test or rk_test.");
}

bool is_live_key(const WireHeaders& headers) {
  const std::string secret = secret_of(find_header(headers, "authorization").value_or(""));
  return starts_with(secret, "sk_live") || starts_with(secret, "rk_live");
}

}  // namespace onceward::provider::simulator

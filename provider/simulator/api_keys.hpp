// ApiKeys: who may call what. Any test key may do everything until it is registered with less.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <onceward/core/clock.hpp>
#include <onceward/provider/simulator/wire.hpp>

#include "provider/simulator/api_error.hpp"

namespace onceward::provider::simulator {

enum class Permission : std::uint8_t { none, read, write };

struct ApiKey {
  /// By resource: payment_intents, charges, refunds, customers, payment_methods, events, disputes,
  /// webhook_endpoints, account. Absent ones: none. Only restricted keys (rk_) are limited by it.
  std::map<std::string, Permission> permissions;
  std::optional<Timestamp> expires_at;  ///< provider time
};

/// How many keys may be registered.
inline constexpr std::size_t api_keys_max = 1000;

class ApiKeys {
 public:
  /// Replaces what was registered for that secret.
  void put(std::string secret, ApiKey key) { keys_[std::move(secret)] = std::move(key); }
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] const std::map<std::string, ApiKey>& all() const noexcept { return keys_; }
  void clear() { keys_.clear(); }

  /// 401 for a missing, unknown, expired or unregistered live key, 403 for a permission that is not
  /// there. A registered live key passes: see is_live().
  [[nodiscard]] std::optional<ApiError> check(const WireHeaders& headers, std::string_view method,
                                              std::string_view path, Timestamp now) const;

 private:
  std::map<std::string, ApiKey> keys_;
};

/// True for the secret of the live mode, in which the simulator has no objects.
[[nodiscard]] bool is_live_key(const WireHeaders& headers);

}  // namespace onceward::provider::simulator

// ApiError: the provider's error answers, and the constructors of the ones the simulator gives.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace onceward::provider::simulator {

struct ApiError {
  int status = 400;
  std::string type = "invalid_request_error";
  std::string code;  ///< absent members are empty
  std::string message;
  std::string param;
  std::string decline_code;
  std::string charge;
  std::optional<boost::json::object> payment_intent;
};

/// `{"error":{...}}`
[[nodiscard]] boost::json::object to_json(const ApiError& error);

[[nodiscard]] ApiError invalid_param(std::string code, std::string param, std::string message);
[[nodiscard]] ApiError missing_param(const std::string& param);
/// 404 for an id in the path, 400 for one in a parameter.
[[nodiscard]] ApiError no_such(int status, const std::string& object, const std::string& id,
                               const std::string& param);
[[nodiscard]] ApiError unauthorized(std::string message);
[[nodiscard]] ApiError key_in_use(const std::string& key);
[[nodiscard]] ApiError key_mismatch(std::string message);
[[nodiscard]] ApiError rate_limited();
[[nodiscard]] ApiError lock_timeout();
[[nodiscard]] ApiError server_error(int status);
/// 503: the simulator holds as many keys as it may.
[[nodiscard]] ApiError key_store_full();

}  // namespace onceward::provider::simulator

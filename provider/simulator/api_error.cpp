// Bodies of error answers.
#include "provider/simulator/api_error.hpp"

#include <utility>

namespace onceward::provider::simulator {

boost::json::object to_json(const ApiError& error) {
  boost::json::object body;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) body[name] = value;
  };
  body["type"] = error.type;
  add("code", error.code);
  add("decline_code", error.decline_code);
  add("charge", error.charge);
  add("param", error.param);
  body["message"] = error.message;
  if (error.payment_intent) body["payment_intent"] = *error.payment_intent;
  boost::json::object whole;
  whole["error"] = std::move(body);
  return whole;
}

ApiError invalid_param(std::string code, std::string param, std::string message) {
  ApiError error;
  error.code = std::move(code);
  error.param = std::move(param);
  error.message = std::move(message);
  return error;
}

ApiError missing_param(const std::string& param) {
  return invalid_param("parameter_missing", param, "Required parameter is missing: " + param + ".");
}

ApiError no_such(int status, const std::string& object, const std::string& id,
                 const std::string& param) {
  ApiError error = invalid_param("resource_missing", param, "There is no " + object + " " + id);
  error.status = status;
  return error;
}

ApiError unauthorized(std::string message) {
  ApiError error;
  error.status = 401;
  error.message = std::move(message);
  return error;
}

ApiError key_in_use(const std::string& key) {
  ApiError error;
  error.status = 409;
  error.code = "idempotency_key_in_use";
  error.message = "Another request with idempotency key " + key + " is still being processed.";
  return error;
}

ApiError key_mismatch(std::string message) {
  ApiError error;
  error.type = "idempotency_error";
  error.message = std::move(message);
  return error;
}

ApiError rate_limited() {
  ApiError error = invalid_param("rate_limit", "", "Too many requests; slow down.");
  error.status = 429;
  return error;
}

ApiError lock_timeout() {
  ApiError error = invalid_param("lock_timeout", "", "The object is locked by another request.");
  error.status = 429;
  return error;
}

ApiError server_error(int status) {
  ApiError error;
  error.status = status;
  error.type = "api_error";
  error.message = "Something went wrong at the provider.";
  return error;
}

ApiError key_store_full() {
  ApiError error = server_error(503);
  error.message =
      "The simulator remembers no more keys: all that it holds are younger than their life. Reset "
      "it, or raise keys_max.";
  return error;
}

}  // namespace onceward::provider::simulator

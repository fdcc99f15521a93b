// Names of operations and observations as they appear in events and logs: permanent text. A new
// enumerator without a name does not compile (-Wswitch without default).
#include <onceward/core/external_call.hpp>

namespace onceward {

std::string_view to_text(Operation operation) noexcept {
  switch (operation) {
    case Operation::create_charge:
      return "create_charge";
    case Operation::create_intent:
      return "create_intent";
    case Operation::confirm_intent:
      return "confirm_intent";
    case Operation::cancel_intent:
      return "cancel_intent";
    case Operation::update_intent:
      return "update_intent";
    case Operation::create_refund:
      return "create_refund";
    case Operation::get_intent:
      return "get_intent";
    case Operation::get_charge:
      return "get_charge";
    case Operation::get_refund:
      return "get_refund";
    case Operation::list_intents:
      return "list_intents";
    case Operation::list_charges:
      return "list_charges";
    case Operation::list_refunds:
      return "list_refunds";
  }
  check_failed("operation", __FILE__, __LINE__, "an Operation outside its enumerators");
}

bool is_look_up(Operation operation) noexcept {
  switch (operation) {
    case Operation::create_charge:
    case Operation::create_intent:
    case Operation::confirm_intent:
    case Operation::cancel_intent:
    case Operation::update_intent:
    case Operation::create_refund:
      return false;
    case Operation::get_intent:
    case Operation::get_charge:
    case Operation::get_refund:
    case Operation::list_intents:
    case Operation::list_charges:
    case Operation::list_refunds:
      return true;
  }
  check_failed("operation", __FILE__, __LINE__, "an Operation outside its enumerators");
}

std::string_view to_text(Observation observation) noexcept {
  switch (observation) {
    case Observation::object:
      return "object";
    case Observation::declined:
      return "declined";
    case Observation::invalid_request:
      return "invalid_request";
    case Observation::unexpected_state:
      return "unexpected_state";
    case Observation::key_mismatch:
      return "key_mismatch";
    case Observation::unauthorized:
      return "unauthorized";
    case Observation::not_found:
      return "not_found";
    case Observation::key_in_use:
      return "key_in_use";
    case Observation::rate_limited:
      return "rate_limited";
    case Observation::lock_timeout:
      return "lock_timeout";
    case Observation::other_client_error:
      return "other_client_error";
    case Observation::server_error:
      return "server_error";
    case Observation::gateway_error:
      return "gateway_error";
    case Observation::redirect:
      return "redirect";
    case Observation::bad_body:
      return "bad_body";
    case Observation::not_sent:
      return "not_sent";
    case Observation::broken:
      return "broken";
  }
  check_failed("observation", __FILE__, __LINE__, "an Observation outside its enumerators");
}

}  // namespace onceward

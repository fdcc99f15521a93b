// Tables of test tokens and decline codes.
#include "provider/simulator/payment_outcome.hpp"

#include <algorithm>
#include <array>

namespace onceward::provider::simulator {
namespace {

struct TokenRow {
  std::string_view name;  ///< after `pm_card_` or `tok_`, and after `visa_` if that is there
  std::string_view number;
  std::string_view decline_code;  ///< empty: authentication is required
};

constexpr TokenRow tokens[] = {
    {"chargeDeclined", "4000000000000002", "generic_decline"},
    {"chargeDeclinedInsufficientFunds", "4000000000009995", "insufficient_funds"},
    {"chargeDeclinedLostCard", "4000000000009987", "lost_card"},
    {"chargeDeclinedStolenCard", "4000000000009979", "stolen_card"},
    {"chargeDeclinedExpiredCard", "4000000000000069", "expired_card"},
    {"chargeDeclinedIncorrectCvc", "4000000000000127", "incorrect_cvc"},
    {"chargeDeclinedProcessingError", "4000000000000119", "processing_error"},
    {"chargeDeclinedVelocityLimitExceeded", "4000000000006975", "card_velocity_exceeded"},
    {"chargeDeclinedFraudulent", "4100000000000019", "fraudulent"},
    {"chargeCustomerFail", "4000000000000341", "generic_decline"},
    {"threeDSecureRequired", "4000002500003155", ""},
    {"threeDSecure2Required", "4000000000003220", ""},
    {"authenticationRequired", "4000002760003184", ""},
};

/// Decline codes that the provider also gives as the error's `code`; all others come with
/// `card_declined`.
constexpr std::array<std::string_view, 9> own_codes = {
    "authentication_required", "expired_card",        "incorrect_cvc",
    "processing_error",        "incorrect_number",    "invalid_cvc",
    "invalid_expiry_month",    "invalid_expiry_year", "invalid_number"};

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

PaymentOutcome decline_with(std::string_view decline_code) {
  PaymentOutcome outcome;
  outcome.kind = OutcomeKind::decline;
  const bool own = std::find(own_codes.begin(), own_codes.end(), decline_code) != own_codes.end();
  outcome.code = own ? decline_code : "card_declined";
  outcome.decline_code = decline_code;
  return outcome;
}

std::optional<PaymentOutcome> outcome_of_token(std::string_view token) {
  std::string_view name = token;
  for (const std::string_view prefix : {"pm_card_", "tok_", "visa_"}) {
    if (starts_with(name, prefix)) name.remove_prefix(prefix.size());
  }
  const auto* row = std::find_if(std::begin(tokens), std::end(tokens), [&](const TokenRow& known) {
    return known.name == name || known.number == token;
  });
  if (row == std::end(tokens)) return std::nullopt;
  if (!row->decline_code.empty()) return decline_with(row->decline_code);
  PaymentOutcome outcome;
  outcome.kind = OutcomeKind::authenticate;
  return outcome;
}

bool is_payment_source(std::string_view id) noexcept {
  for (const std::string_view prefix : {"pm_", "tok_", "card_", "src_"}) {
    if (starts_with(id, prefix) && id.size() > prefix.size()) return true;
  }
  return false;
}

std::string decline_message(const PaymentOutcome& outcome) {
  if (outcome.kind == OutcomeKind::authenticate) {
    return "The card needs its holder to authenticate this payment.";
  }
  return "The card was declined (" + outcome.decline_code + ").";
}

}  // namespace onceward::provider::simulator

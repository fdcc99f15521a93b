// What the provider accepts as an amount: bounds, currency spelling, multiples, minimums.
#include <onceward/core/money.hpp>

#include <algorithm>

#include "provider/simulator/params.hpp"

namespace onceward::provider::simulator {
namespace {

struct Minimum {
  std::string_view currency;
  std::int64_t amount;
};

/// In minor units; the provider states these for the settlement currency.
constexpr Minimum minimums[] = {
    {"aed", 200}, {"aud", 50},  {"brl", 50},   {"cad", 50},  {"chf", 50},    {"czk", 1500},
    {"dkk", 250}, {"eur", 50},  {"gbp", 30},   {"hkd", 400}, {"huf", 17500}, {"inr", 50},
    {"jpy", 50},  {"krw", 50},  {"mxn", 1000}, {"myr", 200}, {"nok", 300},   {"nzd", 50},
    {"pln", 200}, {"ron", 200}, {"sek", 300},  {"sgd", 50},  {"thb", 1000},  {"usd", 50},
};

}  // namespace

std::int64_t smallest_amount(std::string_view currency) noexcept {
  const auto* found =
      std::find_if(std::begin(minimums), std::end(minimums),
                   [&](const Minimum& minimum) { return minimum.currency == currency; });
  return found == std::end(minimums) ? 0 : found->amount;
}

std::optional<ApiError> check_amount(const Params& params) {
  const std::string text = params.text("currency");
  const bool lower = std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a'; });
  const auto currency = Currency::parse(text);
  if (!lower || !currency) {
    return invalid_param("", "currency",
                         "Invalid currency " + text + ": send a supported lower-case ISO code.");
  }
  const std::int64_t amount = params.integer("amount").value_or(0);
  if (amount < 1) {
    return invalid_param("parameter_invalid_integer", "amount", "amount must be at least 1.");
  }
  if (amount > charge_amount_minor_max) {
    return invalid_param("amount_too_large", "amount", "amount must be at most 99999999.");
  }
  if (amount % currency->granularity() != 0) {
    return invalid_param("invalid_amount", "amount",
                         "amount in " + text + " must be a multiple of " +
                             std::to_string(currency->granularity()) + ".");
  }
  return std::nullopt;
}

}  // namespace onceward::provider::simulator

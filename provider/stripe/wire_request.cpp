// The table of operations and the form encoder.
#include "provider/stripe/wire_request.hpp"

#include <algorithm>
#include <array>

namespace onceward::provider::stripe {

namespace {

constexpr std::string_view intents = "/v1/payment_intents";
constexpr std::string_view charges = "/v1/charges";
constexpr std::string_view refunds = "/v1/refunds";
constexpr std::string_view intent = "payment_intent";

constexpr std::array operation_rows = {
    OperationRow{Operation::create_charge, true, charges, false, "", "charge", false},
    OperationRow{Operation::create_intent, true, intents, false, "", intent, false},
    OperationRow{Operation::confirm_intent, true, intents, true, "/confirm", intent, false},
    OperationRow{Operation::cancel_intent, true, intents, true, "/cancel", intent, false},
    OperationRow{Operation::update_intent, true, intents, true, "", intent, false},
    OperationRow{Operation::create_refund, true, refunds, false, "", "refund", false},
    OperationRow{Operation::get_intent, false, intents, true, "", intent, false},
    OperationRow{Operation::get_charge, false, charges, true, "", "charge", false},
    OperationRow{Operation::get_refund, false, refunds, true, "", "refund", false},
    OperationRow{Operation::list_intents, false, intents, false, "", intent, true},
    OperationRow{Operation::list_charges, false, charges, false, "", "charge", true},
    OperationRow{Operation::list_refunds, false, refunds, false, "", "refund", true},
};

constexpr bool rows_follow_the_enumeration() {
  for (std::size_t i = 0; i < operation_rows.size(); ++i) {
    if (static_cast<std::size_t>(operation_rows[i].operation) != i) return false;
  }
  return operation_rows.size() == static_cast<std::size_t>(Operation::list_refunds) + 1;
}
static_assert(rows_follow_the_enumeration(), "one row per Operation, in its order");

constexpr bool is_alphanumeric(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Appends `text`; characters of `kept` stay besides letters and digits.
void append_encoded(std::string& out, std::string_view text, std::string_view kept) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_alphanumeric(c) || kept.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += hex[byte >> 4U];
    out += hex[byte & 15U];
  }
}

}  // namespace

const OperationRow& row_of(Operation operation) noexcept {
  const auto index = static_cast<std::size_t>(operation);
  ONCEWARD_CHECK(index < operation_rows.size(), "an Operation outside its enumerators");
  return operation_rows[index];
}

std::string form_encode(const Params& params) {
  std::string form;
  std::size_t size = 0;
  for (const auto& [name, value] : params) size += name.size() + value.size() + 2;
  form.reserve(size + size / 4);
  for (const auto& [name, value] : params) {
    if (!form.empty()) form += '&';
    append_encoded(form, name, "-_.~[]");
    form += '=';
    append_encoded(form, value, "-_.~");
  }
  return form;
}

std::string path_of(const OperationRow& row, std::string_view target) {
  std::string path(row.path);
  if (row.takes_target) {
    path += '/';
    append_encoded(path, target, "-_");
    path += row.suffix;
  }
  return path;
}

bool is_sendable_key(std::string_view key) noexcept {
  constexpr std::size_t key_length_max = 255;
  return !key.empty() && key.size() <= key_length_max &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace onceward::provider::stripe

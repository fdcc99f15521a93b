// The meaning of the fields of one customer in the customers' file. Private to the CSV reader.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include <onceward/journal/plan_store.hpp>

namespace onceward::ingress {

inline constexpr std::array<std::string_view, 7> customer_columns = {
    "customer",          "amount_minor", "currency", "payment_method",
    "provider_customer", "purpose",      "anchor"};
inline constexpr std::size_t customer_columns_required = 3;
inline constexpr std::string_view customer_header =
    "customer,amount_minor,currency,payment_method,provider_customer,purpose,anchor";

/// One field per column, empty if absent.
using CustomerFields = std::array<std::string_view, customer_columns.size()>;

struct WrongField {
  std::size_t column = 0;  ///< in customer_columns
  std::string reason;      ///< what is wrong and what would be right
};

/// A row without a payment method is a row, with the reason why it is not billed.
[[nodiscard]] std::variant<journal::PlanRow, WrongField> parse_customer_row(
    const CustomerFields& fields);

/// Foreign text as it may appear in a message: quoted if short and printable, else its length.
[[nodiscard]] std::string shown(std::string_view foreign);

}  // namespace onceward::ingress

// Rules for each column of the customers' file, in the order of the columns.
#include "ingress/customer_row.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace onceward::ingress {

namespace {

enum Column : std::size_t {
  customer,
  amount_minor,
  currency,
  payment_method,
  provider_customer,
  purpose,
  anchor,
};

constexpr std::size_t amount_digits_max = 18;
constexpr std::size_t shown_max = 40;

// The reason why `field` is wrong, or the value.
template <class T>
using Parsed = std::variant<T, std::string>;

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Parsed<Money> parse_amount(std::string_view text, const Currency& of) {
  const std::string given = shown(text);
  if (text.starts_with('-') && is_digits(text.substr(1))) {
    return given + " is negative; a plan holds what customers pay, at least 0";
  }
  if (!is_digits(text)) {
    return given + " is no integer; give minor units as digits only, e.g. 4990 for 49.90";
  }
  if (text.size() > amount_digits_max) {
    return given + " is too large; at most " + std::to_string(charge_amount_minor_max);
  }
  std::int64_t minor = 0;
  for (const char c : text) minor = minor * 10 + (c - '0');
  auto money = parse_chargeable(minor, of);
  if (!money) return money.error().context;
  return *money;
}

// `Area/City` as the zone database spells it; never a path that leads out of it.
bool is_zone_name(std::string_view zone) {
  const auto is_part = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '-' || c == '/';
  };
  return !zone.empty() && zone.size() <= 64 && std::all_of(zone.begin(), zone.end(), is_part) &&
         zone.front() != '/' && zone.back() != '/' && zone.find("//") == std::string_view::npos;
}

std::optional<std::string> wrong_anchor(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto at = text.find('@');
  const auto day = BillingPeriod::parse(text.substr(0, at));
  if (!day || day->granularity() != PeriodGranularity::day) {
    return shown(text) +
           " does not begin with a day of the calendar; give YYYY-MM-DD or YYYY-MM-DD@Area/City";
  }
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view zone = text.substr(at + 1);
  const std::filesystem::path zones = "/usr/share/zoneinfo";
  std::error_code failed;
  // Without the system's zone database only the spelling can be judged here.
  const bool is_known =
      is_zone_name(zone) && (!std::filesystem::is_directory(zones, failed) ||
                             std::filesystem::is_regular_file(zones / zone, failed));
  if (is_known) return std::nullopt;
  return shown(zone) + " is no time zone; give a name like Europe/Berlin or UTC after the @";
}

}  // namespace

std::string shown(std::string_view foreign) {
  const bool is_printable =
      std::all_of(foreign.begin(), foreign.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (foreign.size() > shown_max || !is_printable) {
    return "the text of " + std::to_string(foreign.size()) + " bytes";
  }
  return "\"" + std::string(foreign) + "\"";
}

std::variant<journal::PlanRow, WrongField> parse_customer_row(const CustomerFields& fields) {
  journal::PlanRow row;
  auto id = parse_customer_id(fields[customer]);
  if (!id) return WrongField{customer, std::move(id).error().context};
  row.customer = std::move(*id);

  auto money_of = Currency::parse(fields[currency]);
  if (!money_of) return WrongField{currency, std::move(money_of).error().context};
  auto amount = parse_amount(fields[amount_minor], *money_of);
  if (auto* reason = std::get_if<std::string>(&amount)) {
    return WrongField{amount_minor, std::move(*reason)};
  }
  row.amount = std::get<Money>(amount);

  if (fields[payment_method].empty()) {
    row.skip_reason = "no_payment_method";
  } else {
    auto method = parse_payment_method(fields[payment_method]);
    if (!method) return WrongField{payment_method, std::move(method).error().context};
    row.payment_method = std::move(*method);
  }
  const std::string_view at_provider =
      fields[provider_customer].empty() ? fields[customer] : fields[provider_customer];
  auto provider_id = parse_provider_customer(at_provider);
  if (!provider_id) return WrongField{provider_customer, std::move(provider_id).error().context};
  row.provider_customer = std::move(*provider_id);

  auto what_for = parse_purpose(fields[purpose]);
  if (!what_for) return WrongField{purpose, std::move(what_for).error().context};
  row.purpose = std::move(*what_for);
  if (auto reason = wrong_anchor(fields[anchor])) return WrongField{anchor, std::move(*reason)};
  row.anchor = fields[anchor];
  return row;
}

}  // namespace onceward::ingress

// Values by type: from text or TOML, and back to TOML.
#include "app/config/value_codec.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace onceward::app {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
constexpr std::array<Unit, 5> units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::int64_t duration_ms_max = 3'650LL * 86'400'000LL;
constexpr std::int64_t factor_basis_points_max = 1'000'000;  // 100.00

template <class T>
const T* held(const RawValue& raw) {
  return std::get_if<T>(&raw.value);
}

/// Text given with or without a type; null for numbers, booleans and lists.
const std::string* text_of(const RawValue& raw) {
  if (const auto* text = held<std::string>(raw)) return text;
  if (const auto* untyped = held<UntypedText>(raw)) return &untyped->text;
  return nullptr;
}

std::string found(const RawValue& raw) {
  if (held<std::int64_t>(raw) != nullptr) return "is a number";
  if (held<bool>(raw) != nullptr) return "is a boolean";
  if (held<DecimalText>(raw) != nullptr) return "is a decimal number";
  if (held<std::vector<std::string>>(raw) != nullptr) return "is a list";
  return "is \"" + *text_of(raw) + "\"";
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "1.1" -> 11'000; at most four decimals.
std::optional<std::int64_t> parse_basis_points(std::string_view text) {
  const auto point = text.find('.');
  const auto whole = whole_number<std::uint32_t>(text.substr(0, point));
  if (!whole || *whole > 1'000) return std::nullopt;
  std::string decimals =
      point == std::string_view::npos ? "0" : std::string(text.substr(point + 1));
  if (decimals.empty() || decimals.size() > 4) return std::nullopt;
  decimals.append(4 - decimals.size(), '0');
  const auto fraction = whole_number<std::uint32_t>(decimals);
  if (!fraction) return std::nullopt;
  return std::int64_t{*whole} * 10'000 + *fraction;
}

template <class Id>
Complaint read_id(const RawValue& raw, Result<Id> (*parse)(std::string_view), Id& out) {
  std::string text;
  if (auto complaint = read_value(raw, text)) return complaint;
  auto parsed = parse(text);
  if (!parsed) return "is \"" + text + "\": " + parsed.error().context;
  out = std::move(parsed).value();
  return std::nullopt;
}

}  // namespace

std::optional<Milliseconds> parse_duration(std::string_view text) {
  const auto unit_at = text.find_first_not_of("0123456789");
  if (unit_at == 0 || unit_at == std::string_view::npos) return std::nullopt;
  const auto count = whole_number<std::int64_t>(text.substr(0, unit_at));
  for (const auto& unit : units) {
    if (unit.name != text.substr(unit_at)) continue;
    if (!count || *count > duration_ms_max / unit.ms) return std::nullopt;
    return Milliseconds{*count * unit.ms};
  }
  return std::nullopt;
}

std::string to_text(Milliseconds duration) {
  for (const auto& unit : units) {
    if (duration.count() != 0 && duration.count() % unit.ms == 0) {
      return std::to_string(duration.count() / unit.ms) + std::string(unit.name);
    }
  }
  return "0s";
}

Complaint read_value(const RawValue& raw, std::string& out) {
  const auto* text = text_of(raw);
  if (text == nullptr) return found(raw) + "; it must be text in quotes";
  for (const char c : *text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "holds a control character";
  }
  out = *text;
  return std::nullopt;
}

Complaint read_value(const RawValue& raw, std::filesystem::path& out) {
  std::string text;
  if (auto complaint = read_value(raw, text)) return complaint;
  out = text;
  return std::nullopt;
}

Complaint read_value(const RawValue& raw, Milliseconds& out) {
  const auto* text = text_of(raw);
  const auto duration = text == nullptr ? std::nullopt : parse_duration(*text);
  if (!duration) {
    return found(raw) +
           "; it must be a whole number with one unit, e.g. \"500ms\", \"80s\", \"10m\", \"1h\", "
           "\"14d\", at most ten years";
  }
  out = *duration;
  return std::nullopt;
}

Complaint read_value(const RawValue& raw, std::uint32_t& out) {
  constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();
  std::optional<std::int64_t> number;
  if (const auto* integer = held<std::int64_t>(raw)) number = *integer;
  if (const auto* untyped = held<UntypedText>(raw)) {
    number = whole_number<std::int64_t>(untyped->text);
  }
  if (!number) return found(raw) + "; it must be a whole number";
  if (*number < 0 || *number > max) {
    return "is " + std::to_string(*number) + "; it must be between 0 and " + std::to_string(max);
  }
  out = static_cast<std::uint32_t>(*number);
  return std::nullopt;
}

Complaint read_value(const RawValue& raw, bool& out) {
  std::optional<bool> value;
  if (const auto* typed = held<bool>(raw)) value = *typed;
  if (const auto* untyped = held<UntypedText>(raw)) {
    if (untyped->text == "true") value = true;
    if (untyped->text == "false") value = false;
  }
  if (!value) return found(raw) + "; it must be true or false";
  out = *value;
  return std::nullopt;
}

Complaint read_value(const RawValue& raw, CapFactor& out) {
  std::string text;
  if (const auto* decimal = held<DecimalText>(raw)) text = decimal->text;
  if (const auto* integer = held<std::int64_t>(raw)) text = std::to_string(*integer);
  if (const auto* untyped = held<UntypedText>(raw)) text = untyped->text;
  const auto basis_points = parse_basis_points(text);
  if (!basis_points || *basis_points < 10'000 || *basis_points > factor_basis_points_max) {
    return (text.empty() ? found(raw) : "is " + text) +
           "; it must be a number from 1.00 to 100.00 with at most four decimals (below 1 the plan "
           "itself would be refused)";
  }
  out.basis_points = *basis_points;
  return std::nullopt;
}

Complaint read_value(const RawValue& raw, std::vector<std::string>& out) {
  if (const auto* list = held<std::vector<std::string>>(raw)) {
    out = *list;
    return std::nullopt;
  }
  const auto* untyped = held<UntypedText>(raw);
  if (untyped == nullptr) return found(raw) + "; it must be a list of texts: [\"...\"]";
  out.clear();
  std::string_view rest = untyped->text;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    out.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return std::nullopt;
}

Complaint read_value(const RawValue& raw, Namespace& out) {
  return read_id<Namespace>(raw, &parse_namespace, out);
}

Complaint read_value(const RawValue& raw, AccountLabel& out) {
  return read_id<AccountLabel>(raw, &parse_account_label, out);
}

std::string toml_text(const std::string& value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string toml_text(const std::filesystem::path& value) {
  return toml_text(value.string());
}
std::string toml_text(Milliseconds value) {
  return toml_text(to_text(value));
}
std::string toml_text(std::uint32_t value) {
  return std::to_string(value);
}
std::string toml_text(bool value) {
  return value ? "true" : "false";
}

std::string toml_text(CapFactor value) {
  std::string decimals = std::to_string(value.basis_points % 10'000 + 10'000).substr(1);
  while (decimals.size() > 2 && decimals.back() == '0') decimals.pop_back();
  return std::to_string(value.basis_points / 10'000) + "." + decimals;
}

std::string toml_text(const std::vector<std::string>& value) {
  std::string list = "[";
  for (const auto& item : value) list += (list.size() > 1 ? ", " : "") + toml_text(item);
  return list + "]";
}

std::string toml_text(const Namespace& value) {
  return toml_text(value.value());
}
std::string toml_text(const AccountLabel& value) {
  return toml_text(value.value());
}

}  // namespace onceward::app

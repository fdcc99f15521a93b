// Shape checks and typed access.
#include "provider/simulator/params.hpp"

#include <algorithm>
#include <charconv>

namespace onceward::provider::simulator {
namespace {

constexpr std::size_t text_length_max = 5000;
constexpr std::size_t metadata_keys_max = 50;
constexpr std::size_t metadata_key_length_max = 40;
constexpr std::size_t metadata_value_length_max = 500;

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<ApiError> check_single(const FormParam& param, const ParamSpec& spec) {
  const std::string name = to_text(param);
  if (!param.keys.empty()) {
    return invalid_param("", name, "Parameter " + std::string(spec.name) + " has one value only.");
  }
  if (param.value.size() > text_length_max) {
    return invalid_param("", name, "Value of " + name + " is longer than 5000 bytes.");
  }
  if (param.value.empty() && spec.kind != ParamKind::text) {
    return invalid_param("parameter_invalid_empty", name, "Value of " + name + " is empty.");
  }
  if (spec.kind == ParamKind::integer && !parse_integer(param.value)) {
    return invalid_param("parameter_invalid_integer", name, "Not an integer: " + param.value);
  }
  if (spec.kind == ParamKind::boolean && param.value != "true" && param.value != "false") {
    return invalid_param("", name, "Not a boolean (true or false): " + param.value);
  }
  return std::nullopt;
}

std::optional<ApiError> check_metadata_entry(const FormParam& param) {
  const std::string name = to_text(param);
  if (param.keys.size() != 1 || param.keys[0].empty()) {
    return invalid_param("", name, "Metadata is a set of keys and values: metadata[key]=value.");
  }
  if (param.keys[0].size() > metadata_key_length_max) {
    return invalid_param("", name, "Metadata keys have at most 40 characters.");
  }
  if (param.value.size() > metadata_value_length_max) {
    return invalid_param("", name, "Metadata values have at most 500 characters.");
  }
  return std::nullopt;
}

std::optional<ApiError> check_range_entry(const FormParam& param) {
  static constexpr std::string_view bounds[] = {"gt", "gte", "lt", "lte"};
  const std::string name = to_text(param);
  const bool bound = param.keys.size() == 1 && std::find(std::begin(bounds), std::end(bounds),
                                                         param.keys[0]) != std::end(bounds);
  if (!param.keys.empty() && !bound) {
    return invalid_param("", name, "A time range has the bounds gt, gte, lt and lte.");
  }
  if (!parse_integer(param.value)) {
    return invalid_param("parameter_invalid_integer", name, "Not an integer: " + param.value);
  }
  return std::nullopt;
}

std::optional<ApiError> check_list_entry(const FormParam& param) {
  const bool indexed = param.keys.size() == 1 && parse_integer(param.keys[0]).has_value();
  if (indexed && !param.value.empty()) return std::nullopt;
  const std::string name = to_text(param);
  return invalid_param("", name, "Parameter " + param.name + " is a list of values.");
}

std::optional<ApiError> check_param(const FormParam& param, const ParamSpec& spec) {
  switch (spec.kind) {
    case ParamKind::text:
    case ParamKind::id:
    case ParamKind::integer:
    case ParamKind::boolean:
      return check_single(param, spec);
    case ParamKind::metadata:
      return check_metadata_entry(param);
    case ParamKind::list:
      return check_list_entry(param);
    case ParamKind::range:
      return check_range_entry(param);
    case ParamKind::object:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> check_params(const FormParams& params, std::span<const ParamSpec> specs) {
  std::size_t metadata_keys = 0;
  for (const FormParam& param : params) {
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& known) {
      return known.name == param.name;
    });
    if (spec == specs.end()) {
      return invalid_param("parameter_unknown", to_text(param),
                           "This endpoint knows no parameter " + to_text(param));
    }
    if (auto error = check_param(param, *spec)) return error;
    if (spec->kind == ParamKind::metadata && ++metadata_keys > metadata_keys_max) {
      return invalid_param("", "metadata", "Metadata has at most 50 keys.");
    }
  }
  for (const ParamSpec& spec : specs) {
    const bool sent = std::any_of(params.begin(), params.end(),
                                  [&](const FormParam& param) { return param.name == spec.name; });
    if (spec.required && !sent) return missing_param(std::string(spec.name));
  }
  return std::nullopt;
}

std::optional<ApiError> check_page(const Params& params) {
  const auto limit = params.integer("limit");
  if (limit && (*limit < 1 || *limit > 100)) {
    return invalid_param("", "limit", "limit is an integer from 1 to 100.");
  }
  if (params.has("starting_after") && params.has("ending_before")) {
    return invalid_param("", "ending_before", "Send starting_after or ending_before, not both.");
  }
  return std::nullopt;
}

const FormParam* Params::find(std::string_view name) const noexcept {
  const auto found = std::find_if(params_.begin(), params_.end(),
                                  [&](const FormParam& param) { return param.name == name; });
  return found == params_.end() ? nullptr : &*found;
}

bool Params::has(std::string_view name) const noexcept {
  return find(name) != nullptr;
}

std::string Params::text(std::string_view name) const {
  const FormParam* param = find(name);
  return param == nullptr ? std::string() : param->value;
}

std::optional<std::int64_t> Params::integer(std::string_view name) const {
  const FormParam* param = find(name);
  return param == nullptr ? std::nullopt : parse_integer(param->value);
}

bool Params::flag(std::string_view name) const {
  return text(name) == "true";
}

std::vector<std::string> Params::list(std::string_view name) const {
  std::vector<std::string> values;
  for (const FormParam& param : params_) {
    if (param.name == name) values.push_back(param.value);
  }
  return values;
}

CreatedRange Params::range(std::string_view name) const {
  CreatedRange range;
  for (const FormParam& param : params_) {
    if (param.name != name) continue;
    const std::int64_t value = *parse_integer(param.value);
    const std::string_view bound = param.keys.empty() ? "" : std::string_view(param.keys[0]);
    if (bound == "gt") range.from_s = value + 1;
    if (bound == "lt") range.to_s = value - 1;
    if (bound == "gte" || bound.empty()) range.from_s = value;
    if (bound == "lte" || bound.empty()) range.to_s = value;
  }
  return range;
}

std::string Params::nested(std::string_view name, std::string_view key) const {
  for (const FormParam& param : params_) {
    if (param.name == name && param.keys.size() == 1 && param.keys[0] == key) return param.value;
  }
  return {};
}

void Params::merge_metadata(Metadata& into) const {
  for (const FormParam& param : params_) {
    if (param.name != "metadata") continue;
    const std::string& key = param.keys[0];
    const auto known = std::find_if(into.begin(), into.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (param.value.empty()) {
      if (known != into.end()) into.erase(known);
    } else if (known != into.end()) {
      known->second = param.value;
    } else {
      into.emplace_back(key, param.value);
    }
  }
}

Metadata Params::metadata() const {
  Metadata metadata;
  merge_metadata(metadata);
  return metadata;
}

}  // namespace onceward::provider::simulator

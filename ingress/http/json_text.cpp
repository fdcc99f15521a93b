// Strict reading with Boost.JSON, by its error codes: nothing here throws.
#include "ingress/http/json_text.hpp"

#include <algorithm>
#include <set>

#include <boost/json/basic_parser_impl.hpp>

namespace onceward::ingress {

namespace {

namespace json = boost::json;

constexpr std::size_t depth_max = 8;

/// Boost.JSON keeps the last of two members with one name; which one a caller meant is not ours to
/// guess. Sees every key of a text and remembers the first repeat.
struct RepeatFinder {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  using Error = json::error_code;

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) {
    open_objects.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, Error&) {
    open_objects.pop_back();
    return true;
  }
  bool on_array_begin(Error&) { return true; }
  bool on_array_end(std::size_t, Error&) { return true; }
  bool on_key_part(json::string_view part, std::size_t, Error&) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, Error&) {
    key.append(part.data(), part.size());
    if (!open_objects.back().insert(key).second && !repeated) repeated = key;
    key.clear();
    return true;
  }
  bool on_string_part(json::string_view, std::size_t, Error&) { return true; }
  bool on_string(json::string_view, std::size_t, Error&) { return true; }
  bool on_number_part(json::string_view, Error&) { return true; }
  bool on_int64(std::int64_t, json::string_view, Error&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, Error&) { return true; }
  bool on_double(double, json::string_view, Error&) { return true; }
  bool on_bool(bool, Error&) { return true; }
  bool on_null(Error&) { return true; }
  bool on_comment_part(json::string_view, Error&) { return true; }
  bool on_comment(json::string_view, Error&) { return true; }

  std::vector<std::set<std::string>> open_objects;
  std::string key;
  std::optional<std::string> repeated;
};

std::string_view kind_name(json::kind kind) {
  switch (kind) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "a whole number";
    case json::kind::double_:
      return "a number with a fraction or an exponent, or one that is too large";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "unknown";
}

}  // namespace

Result<json::object> parse_json_object(std::string_view text) {
  json::parse_options options;
  options.max_depth = depth_max;
  json::basic_parser<RepeatFinder> parser(options);
  json::error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  const auto rest = text.substr(std::min(read, text.size()));
  if (!error && rest.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    error = json::error::extra_data;
  }
  if (error) {
    return fail(ErrorCode::invalid_argument, "the body is not valid JSON at byte " +
                                                 std::to_string(read + 1) + ": " + error.message());
  }
  if (parser.handler().repeated) {
    return fail(ErrorCode::invalid_argument,
                "the body holds the member " + quoted(*parser.handler().repeated) + " twice");
  }
  json::value value = json::parse(text, error, {}, options);
  if (error || !value.is_object()) {
    return fail(ErrorCode::invalid_argument, "the body must be one JSON object");
  }
  return std::move(value.get_object());
}

const json::value* JsonMembers::find(std::string_view name) {
  known_.push_back(name);
  return object_.if_contains(name);
}

void JsonMembers::refuse(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
}

std::string JsonMembers::optional_text(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (const auto* text = value->if_string()) return {text->data(), text->size()};
  refuse(std::string(name) + " must be a string, not " + std::string(kind_name(value->kind())) +
         (value->is_null() ? "; leave it out instead" : ""));
  return {};
}

std::string JsonMembers::required_text(std::string_view name) {
  if (!object_.contains(name)) refuse(std::string(name) + " is missing");
  return optional_text(name);
}

std::int64_t JsonMembers::required_integer(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) {
    refuse(std::string(name) + " is missing");
    return 0;
  }
  if (const auto* integer = value->if_int64()) return *integer;
  if (value->is_uint64()) {
    refuse(std::string(name) + " is too large");
    return 0;
  }
  refuse(std::string(name) + " must be a whole number, not " +
         std::string(kind_name(value->kind())));
  return 0;
}

std::optional<std::int64_t> JsonMembers::optional_integer(std::string_view name) {
  if (!object_.contains(name)) {
    (void)find(name);  // it is known, though absent
    return std::nullopt;
  }
  return required_integer(name);
}

std::optional<bool> JsonMembers::optional_boolean(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* boolean = value->if_bool()) return *boolean;
  refuse(std::string(name) + " must be true or false, not " +
         std::string(kind_name(value->kind())));
  return std::nullopt;
}

const json::object* JsonMembers::optional_object(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (const auto* object = value->if_object()) return object;
  refuse(std::string(name) + " must be an object, not " + std::string(kind_name(value->kind())));
  return nullptr;
}

Result<Unit> JsonMembers::finish() const {
  for (const auto& member : object_) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    std::string accepted;
    for (const auto& known : known_)
      accepted += (accepted.empty() ? "" : ", ") + std::string(known);
    return fail(ErrorCode::invalid_argument,
                "the body holds the unknown member " + quoted(name) + "; accepted: " + accepted);
  }
  if (!failure_.empty()) return fail(ErrorCode::invalid_argument, failure_);
  return ok();
}

std::string quoted(std::string_view foreign) {
  constexpr std::size_t shown_max = 64;
  const bool is_printable = foreign.size() <= shown_max &&
                            std::all_of(foreign.begin(), foreign.end(),
                                        [](char c) { return c >= ' ' && c <= '~' && c != '"'; });
  if (!is_printable) return "(" + std::to_string(foreign.size()) + " bytes)";
  return "\"" + std::string(foreign) + "\"";
}

}  // namespace onceward::ingress

// Reads the members that billing acts on, strictly.
#include "provider/stripe/answer_parser.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace onceward::provider::stripe {
namespace json = boost::json;

namespace {

/// Bodies of one object parse without a heap allocation.
constexpr std::size_t parse_memory_bytes = 16 * 1024;

/// Reads members of one JSON object; the first that does not fit is remembered by name.
class Members {
 public:
  Members(const json::object& object, std::string& problem) : object_(object), problem_(problem) {}

  [[nodiscard]] bool fits() const noexcept { return problem_.empty(); }

  /// Null and absent are the same to the provider.
  [[nodiscard]] const json::value* find(std::string_view name) const {
    const json::value* value = object_.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  [[nodiscard]] std::string text(std::string_view name) const {
    const json::value* value = find(name);
    if (value == nullptr) return {};
    if (value->is_string()) return std::string(std::string_view(value->get_string()));
    complain(name, "is not a text");
    return {};
  }
  [[nodiscard]] std::string required_text(std::string_view name) const {
    std::string found = text(name);
    if (found.empty()) complain(name, "is missing");
    return found;
  }

  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const {
    const json::value* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_int64() && value->get_int64() >= 0) return value->get_int64();
    complain(name, "is not a non-negative integer");
    return std::nullopt;
  }
  [[nodiscard]] std::int64_t required_integer(std::string_view name) const {
    const auto found = integer(name);
    if (!found) complain(name, "is missing");
    return found.value_or(-1);
  }

  /// Of a reference, which is an id or, expanded, the object itself.
  [[nodiscard]] std::string id_of(std::string_view name) const {
    const json::value* value = find(name);
    if (value == nullptr) return {};
    if (value->is_object()) return Members(value->get_object(), problem_).required_text("id");
    return text(name);
  }

  [[nodiscard]] const json::object* object(std::string_view name) const {
    const json::value* value = find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_object()) complain(name, "is not an object");
    return value->if_object();
  }

  /// The first complaint stays: those that follow are often its consequences.
  void complain(std::string_view name, std::string_view why) const {
    if (problem_.empty()) problem_.append("member ").append(name).append(" ").append(why);
  }

 private:
  const json::object& object_;
  std::string& problem_;
};

Params read_metadata(const Members& members) {
  Params metadata;
  const json::object* object = members.object("metadata");
  if (object == nullptr) return metadata;
  metadata.reserve(object->size());
  for (const auto& [name, value] : *object) {
    if (!value.is_string())
      members.complain("metadata", "has a value that is not a text");
    else
      metadata.emplace_back(name, std::string_view(value.get_string()));
  }
  return metadata;
}

/// The amount of money that moved. Where the provider names two different ones, none can be
/// trusted.
std::int64_t agreed(std::int64_t asked_for, std::int64_t moved) {
  constexpr std::int64_t matches_no_obligation = -1;
  return asked_for == moved ? moved : matches_no_obligation;
}

void read_intent(const Members& members, std::string& problem, ProviderObject& out) {
  out.charge = members.id_of("latest_charge");
  if (out.status == "succeeded") {
    out.amount_minor = agreed(out.amount_minor, members.required_integer("amount_received"));
  }
  const json::object* error = members.object("last_payment_error");
  if (error == nullptr) return;
  const Members failure(*error, problem);
  out.failure_code = failure.text("code");
  out.decline_code = failure.text("decline_code");
  out.failure_charge = failure.id_of("charge");
}

void read_charge(const Members& members, std::string& problem, ProviderObject& out) {
  out.payment_intent = members.id_of("payment_intent");
  out.failure_code = members.text("failure_code");
  // A charge that only holds the money has captured nothing of it.
  const auto captured = members.integer("amount_captured");
  if (out.status == "succeeded" && captured) {
    out.amount_minor = agreed(out.amount_minor, *captured);
  }
  const json::object* outcome = members.object("outcome");
  if (!out.failure_code.empty() && outcome != nullptr) {
    out.decline_code = Members(*outcome, problem).text("reason");
  }
}

/// Fills `problem` if anything does not fit; the object is worthless then.
ProviderObject read_object(const json::object& object, std::string_view kind,
                           std::string& problem) {
  const Members members(object, problem);
  ProviderObject out;
  out.object = members.required_text("object");
  if (out.object != kind) members.complain("object", "names another kind of object");
  out.id = members.required_text("id");
  out.status = kind == "refund" ? members.text("status") : members.required_text("status");
  out.amount_minor = members.required_integer("amount");
  out.currency = members.required_text("currency");
  out.customer = members.id_of("customer");
  out.created_s = members.integer("created").value_or(0);
  out.metadata = read_metadata(members);
  if (kind == "payment_intent") {
    read_intent(members, problem, out);
  } else if (kind == "charge") {
    read_charge(members, problem, out);
  } else {
    out.charge = members.id_of("charge");
    out.payment_intent = members.id_of("payment_intent");
  }
  return out;
}

/// Members of all objects in the tree. The parser bounds the depth.
std::size_t count_members(const json::value& value) {
  std::size_t count = 0;
  if (const json::object* object = value.if_object()) {
    count = object->size();
    for (const auto& member : *object) count += count_members(member.value());
  } else if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) count += count_members(element);
  }
  return count;
}

/// Colons outside of texts: one per member that was written.
std::size_t count_written_members(std::string_view body) {
  std::size_t count = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (in_text && body[i] == '\\') {
      ++i;
    } else if (body[i] == '"') {
      in_text = !in_text;
    } else if (!in_text && body[i] == ':') {
      ++count;
    }
  }
  return count;
}

}  // namespace

AnswerParser::AnswerParser() : memory_(std::make_unique<unsigned char[]>(parse_memory_bytes)) {}

const json::object* AnswerParser::parse(std::string_view body) {
  problem_.clear();
  root_.reset();
  resource_.emplace(memory_.get(), parse_memory_bytes);
  json::error_code error;
  root_.emplace(json::parse(body, error, &*resource_));
  if (error) {
    problem_ = "not JSON: " + error.message();
    return nullptr;
  }
  // The library keeps the last of two members of one name; which one the provider meant is unknown.
  if (count_members(*root_) != count_written_members(body)) {
    problem_ = "a member is there twice";
    return nullptr;
  }
  if (!root_->is_object()) problem_ = "not an object";
  return root_->if_object();
}

std::optional<ProviderObject> AnswerParser::parse_object(std::string_view body,
                                                         std::string_view kind) {
  const json::object* root = parse(body);
  if (root == nullptr) return std::nullopt;
  ProviderObject object = read_object(*root, kind, problem_);
  if (!problem_.empty()) return std::nullopt;
  return object;
}

std::optional<ListPage> AnswerParser::parse_list(std::string_view body, std::string_view kind) {
  const json::object* root = parse(body);
  if (root == nullptr) return std::nullopt;
  const Members members(*root, problem_);
  if (members.required_text("object") != "list") members.complain("object", "is not a list");
  const json::value* data = members.find("data");
  const json::value* has_more = members.find("has_more");
  if (data == nullptr || !data->is_array()) members.complain("data", "is not an array");
  if (has_more == nullptr || !has_more->is_bool()) members.complain("has_more", "is not a boolean");
  if (!members.fits()) return std::nullopt;
  ListPage page;
  page.has_more = has_more->get_bool();
  for (const json::value& element : data->get_array()) {
    if (!element.is_object())
      members.complain("data", "holds something that is not an object");
    else
      page.objects.push_back(read_object(element.get_object(), kind, problem_));
    if (!members.fits()) return std::nullopt;
  }
  return page;
}

ApiError AnswerParser::parse_error(std::string_view body) {
  ApiError out;
  const json::object* root = parse(body);
  if (root == nullptr) return out;
  const json::object* error = Members(*root, problem_).object("error");
  if (error == nullptr) return out;
  const Members members(*error, problem_);
  out.type = members.text("type");
  out.code = members.text("code");
  out.decline_code = members.text("decline_code");
  out.message = members.text("message");
  out.charge = members.id_of("charge");
  // A refusal that does not read as one is not believed.
  if (!members.fits()) return ApiError{};
  const json::object* intent = members.object("payment_intent");
  if (intent != nullptr) {
    std::string intent_problem;
    ProviderObject object = read_object(*intent, "payment_intent", intent_problem);
    if (intent_problem.empty()) out.payment_intent = std::move(object);
  }
  return out;
}

}  // namespace onceward::provider::stripe

// The JSON form of fault rules. Strict: an unknown member would silently test nothing.
#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "provider/simulator/fault_kinds.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

bool reads(std::string_view params, std::string_view name) {
  std::size_t at = 0;
  while (at < params.size()) {
    const std::size_t end = std::min(params.find(' ', at), params.size());
    if (params.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

/// One rule on its way from JSON; the first thing wrong is kept in `error`.
class RuleParser {
 public:
  explicit RuleParser(FaultRule& rule) : rule_(rule) {}

  [[nodiscard]] std::string parse(const json::object& object) {
    const FaultKind* kind = find_kind(object);
    if (kind == nullptr) return error_;
    rule_.name = kind->name;
    is_event_ = kind->target == FaultTarget::event;
    rule_.text = json::serialize(object);
    bool complete = kind->required.empty();
    for (const auto& entry : object) {
      const std::string_view name(entry.key());
      if (name == "kind" || take_common(name, entry.value())) continue;
      if (!reads(kind->params, name)) {
        blame(name, "is not a member that " + rule_.name + " reads");
        break;
      }
      complete = complete || reads(kind->required, name);
      take_param(name, entry.value());
    }
    if (!complete) blame(std::string(kind->required), "(one of them) is missing");
    rule_.action = kind->make(params_);
    return error_;
  }

 private:
  const FaultKind* find_kind(const json::object& object) {
    const json::value* member = object.if_contains("kind");
    if (member == nullptr || !member->is_string()) {
      blame("kind", "is missing");
      return nullptr;
    }
    const FaultKind* kind = find_fault_kind(member->get_string());
    if (kind == nullptr) blame("kind", "is unknown; known are " + fault_kind_names());
    return kind;
  }

  bool take_common(std::string_view name, const json::value& value) {
    if (name == "count") {
      rule_.count = number(name, value);
    } else if (name == "skip") {
      rule_.skip = number(name, value);
    } else if (name == "probability") {
      take_probability(value);
    } else if (name == "match") {
      take_match(value);
    } else {
      return false;
    }
    return true;
  }

  void take_probability(const json::value& value) {
    boost::system::error_code error;
    const auto share = value.to_number<double>(error);
    if (error || share < 0 || share > 1) return blame("probability", "is a number from 0 to 1");
    rule_.parts_per_million = static_cast<std::uint64_t>(share * 1'000'000 + 0.5);
  }

  void take_match(const json::value& value) {
    if (!value.is_object()) return blame("match", "is an object");
    FaultMatch& match = rule_.match;
    for (const auto& entry : value.get_object()) {
      const std::string_view name(entry.key());
      if (is_event_ && name != "event" && name != "customer" && name != "key") {
        blame("match." + std::string(name), "is not for events; they match event, customer, key");
      } else if (name == "event" && is_event_) {
        match.event = text("match.event", entry.value());
      } else if (name == "nth") {
        match.nth = number("match.nth", entry.value());
      } else if (name == "key") {
        match.key = text("match.key", entry.value());
      } else if (name == "customer") {
        match.customer = text("match.customer", entry.value());
      } else if (name == "path") {
        match.path = text("match.path", entry.value());
      } else if (name == "method") {
        match.method = one_of("match.method", entry.value(), {"POST", "GET", "ANY"});
      } else if (name == "money") {
        match.money = flag("match.money", entry.value());
      } else {
        blame("match." + std::string(name),
              "is unknown; known are nth, key, customer, path, method, money; for wh_... event");
      }
    }
  }

  void take_param(std::string_view name, const json::value& value) {
    if (name == "end") {
      params_.end = end(name, value);
    } else if (name == "commit") {
      params_.commit = flag(name, value);
    } else if (name == "retry_after") {
      // A text goes out as it is: dates, and what is no form of the header at all.
      params_.retry_after =
          value.is_string() ? text(name, value) : std::to_string(number(name, value));
    } else if (name == "how") {
      params_.oddity = oddity(name, value);
    } else if (name == "member") {
      params_.member = text(name, value);
    } else if (name == "reason") {
      params_.reason = text(name, value);
    } else if (name == "after_s" || name == "after_ms") {
      params_.after = duration(name, value);
    } else if (name == "n" || name == "window") {
      params_.n = number(name, value);
    } else if (name == "signed") {
      params_.is_signed = flag(name, value);
    } else if (name == "framing") {
      params_.framing = framing(name, value);
    } else if (name == "for_s" || name == "for_ms") {
      params_.for_time = duration(name, value);
    } else if (name == "delay_s" || name == "delay_ms") {
      params_.delay = duration(name, value);
    } else if (name == "commit_at") {
      const bool end = one_of(name, value, {"start", "end"}) == "end";
      params_.commit_at = end ? CommitAt::end : CommitAt::start;
    } else if (name == "code") {
      params_.code = text(name, value);
    } else if (name == "k") {
      params_.k = number(name, value);
    } else if (name == "then") {
      take_then(name, value);
    } else if (name == "bytes") {
      params_.bytes = number(name, value);
    } else if (name == "value") {
      params_.value = one_of(name, value, {"true", "false", "absent"});
    }
  }

  FaultEnd end(std::string_view name, const json::value& value) {
    if (rule_.name != "drop_before") {
      return one_of(name, value, {"fin", "rst"}) == "rst" ? FaultEnd::rst : FaultEnd::fin;
    }
    const std::string given = one_of(name, value, {"fin", "rst", "refuse", "tls"});
    if (given == "refuse") return FaultEnd::refuse;
    if (given == "tls") return FaultEnd::tls;
    return given == "rst" ? FaultEnd::rst : FaultEnd::fin;
  }

  WireFraming framing(std::string_view name, const json::value& value) {
    const std::string given = one_of(name, value, {"length", "chunked", "wrong_length"});
    if (given == "chunked") return WireFraming::chunked;
    return given == "wrong_length" ? WireFraming::wrong_length : WireFraming::length;
  }

  Oddity oddity(std::string_view name, const json::value& value) {
    static constexpr std::pair<std::string_view, Oddity> all[] = {
        {"missing", Oddity::missing}, {"null", Oddity::null},   {"as_text", Oddity::as_text},
        {"twice", Oddity::twice},     {"upper", Oddity::upper}, {"replace", Oddity::replace},
        {"html", Oddity::html}};
    const std::string given =
        one_of(name, value, {"missing", "null", "as_text", "twice", "upper", "replace", "html"});
    for (const auto& [text, oddity] : all) {
      if (text == given) return oddity;
    }
    return Oddity::missing;
  }

  void take_then(std::string_view name, const json::value& value) {
    if (rule_.name == "late_repair") {
      params_.forward = one_of(name, value, {"roll_forward", "roll_back"}) == "roll_forward";
    } else {
      params_.succeeds = one_of(name, value, {"succeeded", "failed"}) == "succeeded";
    }
  }

  std::uint64_t number(std::string_view name, const json::value& value) {
    if (value.is_int64() && value.get_int64() >= 0 && value.get_int64() <= 1'000'000'000'000) {
      return static_cast<std::uint64_t>(value.get_int64());
    }
    blame(name, "is an integer, 0 or more");
    return 0;
  }

  std::chrono::milliseconds duration(std::string_view name, const json::value& value) {
    const auto count = static_cast<std::int64_t>(number(name, value));
    const bool seconds = name.substr(name.size() - 2) == "_s";
    return std::chrono::milliseconds(seconds ? count * 1000 : count);
  }

  std::string text(std::string_view name, const json::value& value) {
    if (value.is_string() && !value.get_string().empty()) {
      return {value.get_string().data(), value.get_string().size()};
    }
    blame(name, "is a text that is not empty");
    return {};
  }

  bool flag(std::string_view name, const json::value& value) {
    if (value.is_bool()) return value.get_bool();
    blame(name, "is true or false");
    return false;
  }

  std::string one_of(std::string_view name, const json::value& value,
                     std::initializer_list<std::string_view> known) {
    // `true` and `"true"` are both a natural way to write the value of should_retry.
    std::string given = value.is_bool() ? (value.get_bool() ? "true" : "false") : text(name, value);
    if (std::find(known.begin(), known.end(), given) != known.end()) return given;
    std::string all;
    for (const std::string_view one : known) all.append(all.empty() ? "" : ", ").append(one);
    blame(name, "is one of " + all);
    return {};
  }

  void blame(std::string_view name, const std::string& why) {
    if (error_.empty()) error_ = std::string(name) + " " + why;
  }

  FaultRule& rule_;
  FaultParams params_;
  bool is_event_ = false;
  std::string error_;
};

Unexpected bad(const std::string& why) {
  return fail(ErrorCode::invalid_argument, "fault rules: " + why);
}

}  // namespace

Result<std::vector<FaultRule>> parse_fault_rules(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return bad("not JSON: " + error.message());
  const json::object* whole = value.if_object();
  const json::value* list = whole == nullptr ? nullptr : whole->if_contains("rules");
  if (list == nullptr || !list->is_array() || whole->size() != 1) {
    return bad("expected {\"rules\":[...]}");
  }
  std::vector<FaultRule> rules;
  for (const json::value& entry : list->get_array()) {
    const std::string which = "rule " + std::to_string(rules.size() + 1) + ": ";
    if (!entry.is_object()) return bad(which + "is no object");
    FaultRule rule;
    const std::string wrong = RuleParser(rule).parse(entry.get_object());
    if (!wrong.empty()) return bad(which + wrong);
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace onceward::provider::simulator

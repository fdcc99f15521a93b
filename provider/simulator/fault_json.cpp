// The JSON form of fault rules. Strict: an unknown member would silently test nothing.
#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "provider/simulator/faults.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

/// Parameters of all kinds together; each kind reads its own.
struct FaultParams {
  std::optional<WireEnding> end;
  std::optional<std::size_t> bytes;
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds for_time{0};
  std::optional<CommitAt> commit_at;
  std::optional<std::int64_t> retry_after_s;
  std::string reason;
  std::string code;
  std::string value;
  std::uint64_t k = 1;
  bool commit = false;
  bool succeeds = true;
};

GateFault gate(GateFault::Kind kind) {
  GateFault fault;
  fault.kind = kind;
  return fault;
}

WireFault wire(WireFault::Kind kind) {
  WireFault fault;
  fault.kind = kind;
  return fault;
}

FaultAction make_drop_before(const FaultParams& params) {
  GateFault fault = gate(GateFault::Kind::drop);
  fault.end = params.end.value_or(WireEnding::fin);
  return fault;
}
FaultAction make_hang(const FaultParams& params) {
  if (params.commit) return wire(WireFault::Kind::hang);
  return gate(GateFault::Kind::hang);
}
FaultAction make_rate_limit(const FaultParams& params) {
  GateFault fault = gate(GateFault::Kind::rate_limit);
  fault.retry_after_s = params.retry_after_s;
  fault.reason = params.reason.empty() ? "global-rate" : params.reason;
  return fault;
}
FaultAction make_lock(const FaultParams&) {
  return gate(GateFault::Kind::lock_timeout);
}
FaultAction make_in_use(const FaultParams& params) {
  GateFault fault = gate(GateFault::Kind::key_in_use);
  fault.in_use_for = params.for_time;
  return fault;
}
FaultAction make_unauthorized(const FaultParams&) {
  return gate(GateFault::Kind::unauthorized);
}
FaultAction make_forbidden(const FaultParams&) {
  return gate(GateFault::Kind::forbidden);
}
template <int Status>
FaultAction make_gateway(const FaultParams& params) {
  if (params.commit) {
    WireFault fault = wire(WireFault::Kind::gateway);
    fault.status = Status;
    return fault;
  }
  GateFault fault = gate(GateFault::Kind::gateway);
  fault.status = Status;
  return fault;
}
FaultAction make_slow(const FaultParams& params) {
  return SlowFault{params.delay, params.commit_at};
}
FaultAction make_commit_500(const FaultParams&) {
  return ResultFault{true};
}
FaultAction make_fail_500(const FaultParams&) {
  return ResultFault{false};
}
FaultAction make_decline(const FaultParams& params) {
  return OutcomeFault{decline_with(params.code), std::nullopt};
}
FaultAction make_decline_then(const FaultParams& params) {
  return OutcomeFault{decline_with(params.code), params.k};
}
FaultAction make_auth_required(const FaultParams&) {
  return OutcomeFault{decline_with("authentication_required"), std::nullopt};
}
FaultAction make_requires_action(const FaultParams&) {
  PaymentOutcome outcome;
  outcome.kind = OutcomeKind::require_action;
  return OutcomeFault{outcome, std::nullopt};
}
FaultAction make_processing(const FaultParams& params) {
  PaymentOutcome outcome;
  outcome.kind = OutcomeKind::process;
  outcome.process_for = params.for_time;
  outcome.process_succeeds = params.succeeds;
  return OutcomeFault{outcome, std::nullopt};
}
FaultAction make_refund_pending(const FaultParams& params) {
  return RefundFault{{params.for_time, params.succeeds, ""}};
}
FaultAction make_refund_failed(const FaultParams& params) {
  return RefundFault{{std::chrono::milliseconds(0), false, params.code}};
}
FaultAction make_commit_drop(const FaultParams& params) {
  WireFault fault = wire(WireFault::Kind::drop);
  fault.end = params.end.value_or(WireEnding::fin);
  return fault;
}
FaultAction make_commit_rst_mid(const FaultParams& params) {
  WireFault fault = wire(WireFault::Kind::cut);
  fault.end = params.end.value_or(WireEnding::rst);
  fault.bytes = params.bytes.value_or(fault.bytes);
  return fault;
}
FaultAction make_bad_json(const FaultParams&) {
  return wire(WireFault::Kind::bad_json);
}
FaultAction make_wrong_amount(const FaultParams&) {
  return wire(WireFault::Kind::wrong_amount);
}
FaultAction make_unknown_status(const FaultParams& params) {
  WireFault fault = wire(WireFault::Kind::unknown_status);
  fault.text = params.code.empty() ? "quite_new" : params.code;
  return fault;
}
FaultAction make_should_retry(const FaultParams& params) {
  if (params.value == "absent") return HeaderFault{};
  return HeaderFault{params.value};
}
FaultAction make_expire_keys(const FaultParams&) {
  return ExpireKeys{};
}

struct KindRow {
  std::string_view name;
  std::string_view params;    ///< members it reads, separated by spaces
  std::string_view required;  ///< one of these must be there; empty: none
  FaultAction (*make)(const FaultParams&);
};

constexpr KindRow kinds[] = {
    {"drop_before", "end", "", make_drop_before},
    {"hang", "commit", "", make_hang},
    {"rl_429", "retry_after reason", "", make_rate_limit},
    {"lock_429", "", "", make_lock},
    {"inuse_409", "for_s for_ms", "for_s for_ms", make_in_use},
    {"auth_401", "", "", make_unauthorized},
    {"forbid_403", "", "", make_forbidden},
    {"gw_502", "commit", "", make_gateway<502>},
    {"gw_503", "commit", "", make_gateway<503>},
    {"gw_504", "commit", "", make_gateway<504>},
    {"slow", "delay_s delay_ms commit_at", "delay_s delay_ms", make_slow},
    {"commit_500", "", "", make_commit_500},
    {"fail_500", "", "", make_fail_500},
    {"decline", "code", "code", make_decline},
    {"decline_then", "code k", "code", make_decline_then},
    {"auth_required", "", "", make_auth_required},
    {"requires_action", "", "", make_requires_action},
    {"processing", "for_s for_ms then", "for_s for_ms", make_processing},
    {"refund_pending", "for_s for_ms then", "for_s for_ms", make_refund_pending},
    {"refund_failed", "code", "", make_refund_failed},
    {"commit_drop", "end", "", make_commit_drop},
    {"commit_rst_mid", "bytes end", "", make_commit_rst_mid},
    {"bad_json_200", "", "", make_bad_json},
    {"wrong_amount_200", "", "", make_wrong_amount},
    {"unknown_status", "code", "", make_unknown_status},
    {"should_retry", "value", "value", make_should_retry},
    {"expire_keys", "", "", make_expire_keys},
};

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
    const KindRow* kind = find_kind(object);
    if (kind == nullptr) return error_;
    rule_.name = kind->name;
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
  const KindRow* find_kind(const json::object& object) {
    const json::value* member = object.if_contains("kind");
    if (member == nullptr || !member->is_string()) {
      blame("kind", "is missing");
      return nullptr;
    }
    const std::string_view name = member->get_string();
    const auto* row = std::find_if(std::begin(kinds), std::end(kinds),
                                   [&](const KindRow& known) { return known.name == name; });
    if (row != std::end(kinds)) return row;
    std::string all;
    for (const KindRow& known : kinds) all.append(all.empty() ? "" : ", ").append(known.name);
    blame("kind", "is unknown; known are " + all);
    return nullptr;
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
      if (name == "nth") {
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
              "is unknown; known are nth, key, customer, path, method, money");
      }
    }
  }

  void take_param(std::string_view name, const json::value& value) {
    if (name == "end") {
      const bool reset = one_of(name, value, {"fin", "rst"}) == "rst";
      params_.end = reset ? WireEnding::rst : WireEnding::fin;
    } else if (name == "commit") {
      params_.commit = flag(name, value);
    } else if (name == "retry_after") {
      params_.retry_after_s = static_cast<std::int64_t>(number(name, value));
    } else if (name == "reason") {
      params_.reason = text(name, value);
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
      params_.succeeds = one_of(name, value, {"succeeded", "failed"}) == "succeeded";
    } else if (name == "bytes") {
      params_.bytes = number(name, value);
    } else if (name == "value") {
      params_.value = one_of(name, value, {"true", "false", "absent"});
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

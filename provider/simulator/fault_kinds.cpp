// Table of the fault kinds.
#include "provider/simulator/fault_kinds.hpp"

#include <algorithm>

namespace onceward::provider::simulator {
namespace {

constexpr std::chrono::milliseconds closed_for_default{1000};

WireEnding ending_of(std::optional<FaultEnd> end, FaultEnd otherwise) {
  switch (end.value_or(otherwise)) {
    case FaultEnd::fin:
      return WireEnding::fin;
    case FaultEnd::rst:
      return WireEnding::rst;
    case FaultEnd::refuse:
      return WireEnding::refused;
    case FaultEnd::tls:
      return WireEnding::tls_failed;
  }
  return WireEnding::fin;
}

GateFault gate(GateFault::Kind kind) {
  GateFault fault;
  fault.kind = kind;
  return fault;
}
template <GateFault::Kind Kind>
FaultAction make_gate(const FaultParams&) {
  return gate(Kind);
}

WireFault wire(WireFault::Kind kind) {
  WireFault fault;
  fault.kind = kind;
  return fault;
}
template <WireFault::Kind Kind>
FaultAction make_wire(const FaultParams&) {
  return wire(Kind);
}

FaultAction make_drop_before(const FaultParams& params) {
  GateFault fault = gate(GateFault::Kind::drop);
  fault.end = ending_of(params.end, FaultEnd::fin);
  if (fault.end == WireEnding::refused || fault.end == WireEnding::tls_failed) {
    fault.closed_for = params.for_time.count() > 0 ? params.for_time : closed_for_default;
  }
  return fault;
}
FaultAction make_stale(const FaultParams& params) {
  GateFault fault = gate(GateFault::Kind::stale_connection);
  fault.end = ending_of(params.end, FaultEnd::fin);
  fault.idle_for = params.after;
  return fault;
}
FaultAction make_hang(const FaultParams& params) {
  if (params.commit) return wire(WireFault::Kind::hang);
  return gate(GateFault::Kind::hang);
}
FaultAction make_rate_limit(const FaultParams& params) {
  GateFault fault = gate(GateFault::Kind::rate_limit);
  fault.retry_after = params.retry_after;
  fault.reason = params.reason.empty() ? "global-rate" : params.reason;
  return fault;
}
FaultAction make_in_use(const FaultParams& params) {
  GateFault fault = gate(GateFault::Kind::key_in_use);
  fault.in_use_for = params.for_time;
  return fault;
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
template <ResultFault::Work Work>
FaultAction make_500(const FaultParams&) {
  return ResultFault{Work, {}};
}
FaultAction make_late_repair(const FaultParams& params) {
  return ResultFault{params.forward ? ResultFault::Work::later : ResultFault::Work::undone,
                     params.after};
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
FaultAction make_short_page(const FaultParams& params) {
  return ListFault{std::max<std::uint64_t>(params.n, 1)};
}
FaultAction make_commit_drop(const FaultParams& params) {
  WireFault fault = wire(WireFault::Kind::drop);
  fault.end = ending_of(params.end, FaultEnd::fin);
  return fault;
}
FaultAction make_commit_rst_mid(const FaultParams& params) {
  WireFault fault = wire(WireFault::Kind::cut);
  fault.end = ending_of(params.end, FaultEnd::rst);
  fault.bytes = params.bytes.value_or(fault.bytes);
  fault.framing = params.framing;
  return fault;
}
FaultAction make_unknown_status(const FaultParams& params) {
  WireFault fault = wire(WireFault::Kind::unknown_status);
  fault.text = params.code.empty() ? "quite_new" : params.code;
  return fault;
}
FaultAction make_odd(const FaultParams& params) {
  WireFault fault = wire(WireFault::Kind::odd);
  fault.oddity = params.oddity;
  fault.member = params.member;
  fault.text = params.code;
  return fault;
}
FaultAction make_should_retry(const FaultParams& params) {
  if (params.value == "absent") return HeaderFault{};
  return HeaderFault{params.value};
}
FaultAction make_expire_keys(const FaultParams&) {
  return ExpireKeys{};
}
template <WebhookFault::Kind Kind>
FaultAction make_webhook(const FaultParams& params) {
  WebhookFault fault;
  fault.kind = Kind;
  fault.n = std::max<std::uint64_t>(params.n, 1);
  fault.delay = params.delay;
  fault.is_signed = params.is_signed;
  return fault;
}

using Target = FaultTarget;
constexpr FaultKind kinds[] = {
    {"drop_before", "end for_s for_ms", "", Target::request, make_drop_before},
    {"silent_keepalive_close", "after_s after_ms end", "after_s after_ms", Target::request,
     make_stale},
    {"hang", "commit", "", Target::request, make_hang},
    {"rl_429", "retry_after reason", "", Target::request, make_rate_limit},
    {"lock_429", "", "", Target::post, make_gate<GateFault::Kind::lock_timeout>},
    {"inuse_409", "for_s for_ms", "for_s for_ms", Target::keyed, make_in_use},
    {"auth_401", "", "", Target::request, make_gate<GateFault::Kind::unauthorized>},
    {"forbid_403", "", "", Target::request, make_gate<GateFault::Kind::forbidden>},
    {"gw_502", "commit", "", Target::request, make_gateway<502>},
    {"gw_503", "commit", "", Target::request, make_gateway<503>},
    {"gw_504", "commit", "", Target::request, make_gateway<504>},
    {"slow", "delay_s delay_ms commit_at", "delay_s delay_ms", Target::request, make_slow},
    {"commit_500", "", "", Target::post, make_500<ResultFault::Work::done>},
    {"fail_500", "", "", Target::post, make_500<ResultFault::Work::none>},
    {"late_repair", "after_s after_ms then", "after_s after_ms", Target::money, make_late_repair},
    {"decline", "code", "code", Target::money, make_decline},
    {"decline_then", "code k", "code", Target::money, make_decline_then},
    {"auth_required", "", "", Target::money, make_auth_required},
    {"requires_action", "", "", Target::money, make_requires_action},
    {"processing", "for_s for_ms then", "for_s for_ms", Target::money, make_processing},
    {"refund_pending", "for_s for_ms then", "for_s for_ms", Target::refund, make_refund_pending},
    {"refund_failed", "code", "", Target::refund, make_refund_failed},
    {"short_page", "n", "", Target::list, make_short_page},
    {"commit_drop", "end", "", Target::request, make_commit_drop},
    {"commit_rst_mid", "bytes end framing", "", Target::request, make_commit_rst_mid},
    {"bad_json_200", "", "", Target::request, make_wire<WireFault::Kind::bad_json>},
    {"wrong_amount_200", "", "", Target::request, make_wire<WireFault::Kind::wrong_amount>},
    {"unknown_status", "code", "", Target::request, make_unknown_status},
    {"odd_200", "how member code", "how", Target::request, make_odd},
    {"should_retry", "value", "value", Target::request, make_should_retry},
    {"expire_keys", "", "", Target::keys, make_expire_keys},
    {"wh_dup", "n", "", Target::event, make_webhook<WebhookFault::Kind::repeat>},
    {"wh_twin", "", "", Target::event, make_webhook<WebhookFault::Kind::twin>},
    {"wh_reorder", "window", "", Target::event, make_webhook<WebhookFault::Kind::reorder>},
    {"wh_delay", "delay_s delay_ms", "delay_s delay_ms", Target::event,
     make_webhook<WebhookFault::Kind::delay>},
    {"wh_lose", "", "", Target::event, make_webhook<WebhookFault::Kind::lose>},
    {"wh_before_response", "", "", Target::event, make_webhook<WebhookFault::Kind::early>},
    {"wh_bad_sig", "", "", Target::event, make_webhook<WebhookFault::Kind::bad_signature>},
    {"wh_old_ts", "", "", Target::event, make_webhook<WebhookFault::Kind::old_stamp>},
    {"wh_future_ts", "", "", Target::event, make_webhook<WebhookFault::Kind::future_stamp>},
    {"wh_truncated", "signed", "", Target::event, make_webhook<WebhookFault::Kind::truncated>},
};

}  // namespace

std::span<const FaultKind> fault_kinds() noexcept {
  return kinds;
}

const FaultKind* find_fault_kind(std::string_view name) noexcept {
  const auto* found = std::find_if(std::begin(kinds), std::end(kinds),
                                   [&](const FaultKind& kind) { return kind.name == name; });
  return found == std::end(kinds) ? nullptr : found;
}

std::string fault_kind_names() {
  std::string all;
  for (const FaultKind& kind : kinds) all.append(all.empty() ? "" : ", ").append(kind.name);
  return all;
}

}  // namespace onceward::provider::simulator

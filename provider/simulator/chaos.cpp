// Implementation of Chaos.
#include "provider/simulator/chaos.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace onceward::provider::simulator {
namespace {

/// Forgetting keys before their time breaks a promise of the provider, on which every client
/// builds: no client could be judged by it.
bool is_drawable(const FaultKind& kind) {
  return kind.target != FaultTarget::keys;
}

bool can_happen(FaultTarget target, const RequestFacts& facts) {
  const bool event = !facts.event.empty();
  switch (target) {
    case FaultTarget::request:
      return !event;
    case FaultTarget::post:
      return !event && facts.method == "POST";
    case FaultTarget::keyed:
      return !event && facts.method == "POST" && !facts.key.empty();
    case FaultTarget::money:
      return !event && facts.money;
    case FaultTarget::refund:
      return !event && facts.method == "POST" && facts.path == "/v1/refunds";
    case FaultTarget::list:
      return !event && facts.method == "GET" &&
             (facts.path == "/v1/payment_intents" || facts.path == "/v1/charges" ||
              facts.path == "/v1/refunds");
    case FaultTarget::event:
      return event;
    case FaultTarget::keys:
      return false;
  }
  return false;
}

}  // namespace

Result<Unit> Chaos::start(ChaosSettings settings) {
  if (settings.percent > 100) {
    return fail(ErrorCode::invalid_argument, "chaos: percent is a number from 0 to 100");
  }
  for (const std::string& name : settings.kinds) {
    const FaultKind* kind = find_fault_kind(name);
    if (kind == nullptr || !is_drawable(*kind)) {
      return fail(ErrorCode::invalid_argument, "chaos: kind \"" + name +
                                                   "\" cannot be drawn; known kinds: " +
                                                   fault_kind_names() + " (all but expire_keys)");
    }
  }
  random_ = Random(settings.seed);
  drawn_.clear();
  settings_ = std::move(settings);
  return ok();
}

FaultParams Chaos::draw_params() {
  static constexpr std::array<const char*, 8> codes = {
      "insufficient_funds",      "do_not_honor", "try_again_later",  "expired_card", "lost_card",
      "authentication_required", "fraudulent",   "never_seen_before"};
  static constexpr std::array<FaultEnd, 4> ends = {FaultEnd::fin, FaultEnd::rst, FaultEnd::refuse,
                                                   FaultEnd::tls};
  static constexpr std::array<const char*, 3> retry_values = {"true", "false", "absent"};
  FaultParams params;
  params.end = ends[below(ends.size())];
  params.bytes = below(400);
  params.framing = static_cast<WireFraming>(below(3));
  // Around the clients' own limit of 80 s, so that it splits both ways.
  params.delay = std::chrono::milliseconds(below(160'000));
  // A request may run for a quarter of an hour after its client gave up, not longer.
  params.for_time = std::chrono::seconds(1 + below(600));
  params.after = std::chrono::seconds(1 + below(600));
  params.commit_at = below(2) == 0 ? CommitAt::start : CommitAt::end;
  if (below(2) == 0) params.retry_after = std::to_string(below(10));
  params.code = codes[below(codes.size())];
  params.value = retry_values[below(retry_values.size())];
  params.k = 1 + below(3);
  params.n = 1 + below(3);
  params.commit = below(2) == 0;
  params.succeeds = below(2) == 0;
  params.forward = below(2) == 0;
  params.is_signed = below(2) == 0;
  static constexpr std::array<const char*, 5> members = {"status", "id", "amount", "currency",
                                                         "metadata"};
  params.oddity = static_cast<Oddity>(below(7));
  params.member = members[below(members.size())];
  return params;
}

std::optional<ChaosFault> Chaos::draw(const RequestFacts& facts) {
  if (settings_.percent == 0 || below(100) >= settings_.percent) return std::nullopt;
  std::vector<const FaultKind*> candidates;
  for (const FaultKind& kind : fault_kinds()) {
    const bool chosen = settings_.kinds.empty() ||
                        std::find(settings_.kinds.begin(), settings_.kinds.end(), kind.name) !=
                            settings_.kinds.end();
    if (chosen && is_drawable(kind) && can_happen(kind.target, facts)) candidates.push_back(&kind);
  }
  if (candidates.empty()) return std::nullopt;
  const FaultKind& kind = *candidates[below(candidates.size())];
  FaultParams params = draw_params();
  // Only before the request is looked at can a connection fail to come about.
  const bool before = kind.name == "drop_before";
  if (!before && (params.end == FaultEnd::refuse || params.end == FaultEnd::tls)) {
    params.end = FaultEnd::rst;
  }
  ++drawn_[std::string(kind.name)];
  return ChaosFault{std::string(kind.name), kind.make(params)};
}

}  // namespace onceward::provider::simulator

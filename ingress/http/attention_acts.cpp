// Routes of attention that act: retry and resolve. A retry makes an entity look again, never a
// blind send; a verdict is stored with who gave it and why.
#include <any>
#include <array>
#include <random>

#include <onceward/billing/hint_commands.hpp>

#include "ingress/attention/attention_item.hpp"
#include "ingress/http/command_exchange.hpp"
#include "ingress/http/header_values.hpp"
#include "ingress/http/json_text.hpp"
#include "ingress/http/quarantine_act.hpp"
#include "ingress/http/reason.hpp"
#include "ingress/http/routes.hpp"
#include "ingress/http/url.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

/// A person's act on one item.
struct Act {
  AttentionId id;
  std::string who;
  std::string why;
  RequestId request_id;
  std::string resolution;  ///< of resolve; as it was written
  std::string reference;
};

/// For those who name no request of their own: theirs is then not told from a new one.
RequestId new_request_id() {
  std::random_device random;
  std::string text = "attention-";
  constexpr std::string_view hex = "0123456789abcdef";
  for (int word = 0; word < 4; ++word) {
    for (std::uint32_t bits = random(), n = 0; n < 8; ++n, bits >>= 4U) text += hex[bits & 15U];
  }
  return RequestId{std::move(text)};
}

Result<Act> parse_act(const Call& call, bool is_verdict) {
  auto query = Query::parse(call.request.query, {});
  if (!query) return Unexpected{std::move(query).error()};
  auto id = parse_attention_id(call.segments[2]);
  if (!id) return Unexpected{std::move(id).error()};
  Act act{std::move(*id), call.principal, {}, {}, {}, {}};
  if (platform::count_headers(call.request.headers, "Idempotency-Key") > 0) {
    auto key = parse_idempotency_key(call.request.headers);
    if (!key) return Unexpected{std::move(key).error()};
    act.request_id = RequestId{std::move(*key)};
  } else {
    act.request_id = new_request_id();
  }
  auto object = parse_json_object(call.request.body.empty() ? "{}" : call.request.body);
  if (!object) return Unexpected{std::move(object).error()};
  JsonMembers members(*object);
  act.why = required_reason(members);
  if (is_verdict) {
    act.resolution = members.optional_text("resolution");
    act.reference = members.optional_text("reference");
    if (act.reference.size() > reason_bytes_max) {
      members.refuse("reference may have at most 500 bytes");
    }
  }
  if (auto finished = members.finish(); !finished) return Unexpected{finished.error()};
  return act;
}

void not_possible(const Answer& answer, std::string detail) {
  Problem problem;
  problem.kind = ProblemKind::not_possible;
  problem.detail = std::move(detail);
  answer(problem_answer(std::move(problem)));
}

void run_on_obligation(Services& services, const ObligationKey& key,
                       billing::BillingCommand command, Answer answer) {
  CommandCall call;
  call.customer = key.customer;
  call.location = obligation_path(key);
  call.accepted = std::move(command);
  run_command(services, std::move(call), std::move(answer));
}

void look_again(Services& services, const Act& act, Answer answer) {
  billing::LookAgain look;
  look.key = act.id.key;
  look.who = act.who;
  look.why = act.why;
  look.mark = billing::mark_of(look, act.request_id);
  run_on_obligation(services, act.id.key, std::move(look), std::move(answer));
}

void resolve_obligation(Services& services, const Act& act, Answer answer) {
  // Nothing is taken for granted: a verdict that nobody gave could write money off.
  const auto resolution = billing::parse_resolution(act.resolution);
  if (!resolution) {
    return answer(bad_request(
        {ErrorCode::invalid_argument,
         "resolution must be named: paid_by_charge (reference: the charge), paid_outside "
         "(reference: how), written_off (nothing more is tried) or not_charged"}));
  }
  billing::ResolveObligation resolve;
  resolve.key = act.id.key;
  resolve.resolution = *resolution;
  resolve.reference = act.reference;
  resolve.who = act.who;
  resolve.why = act.why;
  resolve.mark = billing::mark_of(resolve, act.request_id);
  run_on_obligation(services, act.id.key, std::move(resolve), std::move(answer));
}

void acknowledge(Services& services, const Act& act, Answer answer) {
  if (!act.resolution.empty() || !act.reference.empty()) {
    return answer(bad_request({ErrorCode::invalid_argument,
                               "an alarm is resolved by its reason alone, without resolution and "
                               "reference"}));
  }
  billing::AcknowledgeAlarm acknowledge;
  acknowledge.key = act.id.key;
  acknowledge.who = act.who;
  acknowledge.why = act.why;
  acknowledge.mark = billing::mark_of(acknowledge, act.request_id);
  run_on_obligation(services, act.id.key, std::move(acknowledge), std::move(answer));
}

void resolve_refund(Services& services, const Act& act, billing::ResolveRefund::Verdict verdict,
                    Answer answer) {
  billing::ResolveRefund resolve;
  resolve.key = act.id.key;
  resolve.number = act.id.number;
  resolve.verdict = verdict;
  resolve.refund_id = act.reference;
  resolve.who = act.who;
  resolve.why = act.why;
  resolve.mark = billing::mark_of(resolve, act.request_id);
  run_on_obligation(services, act.id.key, std::move(resolve), std::move(answer));
}

void resolve_refund_as(Services& services, const Act& act, Answer answer) {
  using Verdict = billing::ResolveRefund::Verdict;
  const bool is_given = act.resolution == "given";
  if (!is_given && act.resolution != "not_given") {
    return answer(bad_request({ErrorCode::invalid_argument,
                               "resolution of a refund must be given (with the refund's id at the "
                               "provider in reference) or not_given"}));
  }
  resolve_refund(services, act, is_given ? Verdict::given : Verdict::not_given, std::move(answer));
}

platform::HttpResponse inbox_answer(const std::any& reply) {
  const auto* known = std::any_cast<billing::InboxReply>(&reply);
  if (known == nullptr) return turned_down_answer(Turndown::uncertain);
  if (const auto* told = std::get_if<billing::InboxTold>(known)) {
    return json_answer(200, json::object{{"object", told->item.object},
                                         {"open", told->item.open},
                                         {"who", told->item.who},
                                         {"why", told->item.why}});
  }
  if (const auto* refused = std::get_if<billing::InboxRefused>(known)) {
    return bad_request({ErrorCode::invalid_argument, refused->detail});
  }
  if (const auto* turned_down = std::get_if<billing::InboxTurnedDown>(known)) {
    return turned_down_answer(turned_down->why);
  }
  Problem problem;
  problem.kind = ProblemKind::not_found;
  problem.detail = "no event told of this object";
  return problem_answer(std::move(problem));
}

void resolve_inbox(Services& services, const Act& act, Answer answer) {
  const auto entity = inbox_persistence_id(act.id.object);
  if (!entity) return answer(bad_request(entity.error()));
  if (!act.resolution.empty() || !act.reference.empty()) {
    return answer(bad_request({ErrorCode::invalid_argument,
                               "resolution and reference are for obligations; an object of the "
                               "inbox is resolved by its reason alone"}));
  }
  const std::array<std::string_view, 1> payload{act.id.object};
  billing::ResolveInbox resolve;
  resolve.mark = billing::command_mark("resolve_inbox", act.request_id, payload);
  resolve.who = act.who;
  resolve.why = act.why;
  services.ports.runtime.ask(*entity, std::any(billing::InboxCommand(std::move(resolve))),
                             [answer](std::any reply) { answer(inbox_answer(reply)); });
}

void run_act(Services& services, Call call, bool is_verdict,
             void (*run)(Services&, const Act&, Answer)) {
  if (call.request.body.size() > json_bytes_max) return call.answer(too_large());
  const auto act = parse_act(call, is_verdict);
  if (!act) return call.answer(bad_request(act.error()));
  if (const auto why = services.ports.not_ready()) {
    return call.answer(error_answer({ErrorCode::not_ready, *why + "; nothing was recorded"}));
  }
  run(services, *act, std::move(call.answer));
}

constexpr const char* quarantine_detail =
    "a quarantined entity is not run: look at its history with `onceward journal verify` first, "
    "then resolve it";

void resolve_quarantine(Services& services, const Act& act, Answer answer) {
  if (!act.resolution.empty() || !act.reference.empty()) {
    return answer(bad_request({ErrorCode::invalid_argument,
                               "a quarantine is lifted by its reason alone, without resolution and "
                               "reference"}));
  }
  lift_quarantine(services, {act.id.entity, act.who, act.why, act.request_id}, std::move(answer));
}

void retry_item(Services& services, const Act& act, Answer answer) {
  switch (act.id.kind) {
    case AttentionKind::obligation:
      return look_again(services, act, std::move(answer));
    case AttentionKind::refund:
      return resolve_refund(services, act, billing::ResolveRefund::Verdict::look_again,
                            std::move(answer));
    case AttentionKind::alarm:
      return not_possible(answer,
                          "there is nothing to try again: the period was billed; look at "
                          "it, then resolve the alarm");
    case AttentionKind::quarantine:
      return not_possible(answer, quarantine_detail);
    case AttentionKind::inbox:
      return not_possible(answer,
                          "there is nothing to try again: look at the object at the "
                          "provider, then resolve it");
  }
}

void resolve_item(Services& services, const Act& act, Answer answer) {
  switch (act.id.kind) {
    case AttentionKind::obligation:
      return resolve_obligation(services, act, std::move(answer));
    case AttentionKind::inbox:
      return resolve_inbox(services, act, std::move(answer));
    case AttentionKind::alarm:
      return acknowledge(services, act, std::move(answer));
    case AttentionKind::refund:
      return resolve_refund_as(services, act, std::move(answer));
    case AttentionKind::quarantine:
      return resolve_quarantine(services, act, std::move(answer));
  }
}

}  // namespace

void retry_attention(Services& services, Call call) {
  run_act(services, std::move(call), false, retry_item);
}

void resolve_attention(Services& services, Call call) {
  run_act(services, std::move(call), true, resolve_item);
}

}  // namespace onceward::ingress

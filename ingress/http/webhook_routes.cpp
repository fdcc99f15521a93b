// POST /v1/webhooks/stripe: verified bytes become a hint for the customer's entity, or a note in
// the inbox if nobody here knows the object. Answered 2xx only when that is durable: the provider
// then forgets the event.
#include <any>
#include <array>
#include <memory>

#include <onceward/billing/hint_commands.hpp>
#include <onceward/core/digest.hpp>

#include "ingress/http/command_exchange.hpp"
#include "ingress/http/routes.hpp"
#include "ingress/webhook/webhook_event.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

/// The provider repeats an event for 3 days by itself and for 30 days by hand.
constexpr std::chrono::hours mark_life{24 * 45};

platform::HttpResponse refusal(ProblemKind kind, std::string detail) {
  Problem problem;
  problem.kind = kind;
  problem.detail = std::move(detail);
  return problem_answer(std::move(problem));
}

/// Not taken now; the provider delivers it again.
platform::HttpResponse deliver_again(ProblemKind kind, std::string detail) {
  Problem problem;
  problem.kind = kind;
  problem.detail = std::move(detail) + "; deliver the event again";
  problem.charge_state = ChargeState::unknown;
  problem.retry_after_s = 1;
  return problem_answer(std::move(problem));
}

/// What became of an event: `look_up`, `duplicate`, `inbox` or `none`.
platform::HttpResponse received(std::string_view effect, std::string_view why = "") {
  json::object body{{"received", true},
                    {"effect", json::string_view(effect.data(), effect.size())}};
  if (!why.empty()) body["reason"] = json::string_view(why.data(), why.size());
  return json_answer(200, body);
}

billing::HintedKind hinted_kind(WebhookObject kind) {
  switch (kind) {
    case WebhookObject::payment_intent:
      return billing::HintedKind::payment_intent;
    case WebhookObject::charge:
      return billing::HintedKind::charge;
    case WebhookObject::refund:
      return billing::HintedKind::refund;
    case WebhookObject::dispute:
      return billing::HintedKind::dispute;
  }
  return billing::HintedKind::payment_intent;
}

Mark mark_of(const WebhookEvent& event, Timestamp now) {
  const std::array<std::string_view, 2> content{event.type, event.object};
  return {.scope = "webhook",
          .key = event.id,
          .fingerprint = to_hex(sha256(netstrings(content))),
          .expires_at = now.plus(mark_life)};
}

/// The obligation that the object's metadata names.
std::optional<ObligationKey> named_obligation(const WebhookEvent& event, const Namespace& ns) {
  if (event.ns != ns.value()) return std::nullopt;
  auto customer = parse_customer_id(event.customer);
  auto period = BillingPeriod::parse(event.period);
  auto purpose = parse_purpose(event.purpose);
  if (!customer || !period || !purpose) return std::nullopt;
  return ObligationKey{std::move(*customer), std::move(*period), std::move(*purpose)};
}

/// One verified event on its way to whom it concerns. Its steps follow each other; one thread at a
/// time has it.
class Delivery : public std::enable_shared_from_this<Delivery> {
 public:
  Delivery(Services& services, WebhookEvent event, Answer answer)
      : services_(services), event_(std::move(event)), answer_(std::move(answer)) {}

  void begin() {
    if (auto key = named_obligation(event_, services_.ns)) return hint(*key);
    // Refunds and disputes made elsewhere carry no metadata of ours, but name the charge.
    const bool belongs_to_a_charge =
        event_.kind == WebhookObject::refund || event_.kind == WebhookObject::dispute;
    if (!belongs_to_a_charge || event_.charge.empty()) return to_inbox();
    const bool posted = services_.slow_pool.post(
        [self = shared_from_this()](journal::JournalReader& reader) { self->find(reader); });
    if (!posted) answer_(deliver_again(ProblemKind::busy, "too many reads are waiting"));
  }

 private:
  void find(journal::JournalReader& reader) {
    const auto row = reader.row_of_charge(event_.charge);
    if (!row) return answer_(read_failed(row.error()));
    if (!*row) return to_inbox();
    hint((*row)->key);
  }

  void hint(const ObligationKey& key) {
    billing::ProviderHint hint;
    hint.key = key;
    hint.mark = mark_of(event_, services_.now().wall);
    hint.type = event_.type;
    hint.kind = hinted_kind(*event_.kind);
    hint.object = event_.object;
    hint.intent = event_.intent;
    hint.charge = event_.charge;
    services_.ports.runtime.ask(
        customer_persistence_id(key.customer), std::any(billing::BillingCommand(std::move(hint))),
        [self = shared_from_this()](std::any reply) { self->hinted(reply); });
  }

  void hinted(const std::any& reply) {
    const auto* known = std::any_cast<billing::BillingReply>(&reply);
    if (known == nullptr) return uncertain();
    if (const auto* taken = std::get_if<billing::HintTaken>(known)) {
      return answer_(received(taken->duplicate ? "duplicate" : "look_up"));
    }
    if (const auto* refused = std::get_if<billing::Refused>(known)) {
      return answer_(refusal(ProblemKind::bad_request, refused->detail));
    }
    if (std::holds_alternative<billing::NoSuchObligation>(*known)) return to_inbox();
    const auto* turned_down = std::get_if<billing::TurnedDown>(known);
    if (turned_down == nullptr) return uncertain();
    // The customer's history takes nothing now; a person who looks at it finds the event beside it.
    if (turned_down->why == Turndown::quarantined) return to_inbox();
    answer_(turned_down_answer(turned_down->why));
  }

  void to_inbox() {
    const auto entity = inbox_persistence_id(event_.object);
    if (!entity) return answer_(refusal(ProblemKind::bad_request, entity.error().context));
    billing::StoreHint hint;
    hint.mark = mark_of(event_, services_.now().wall);
    hint.type = event_.type;
    hint.kind = hinted_kind(*event_.kind);
    hint.about = about();
    services_.ports.runtime.ask(
        *entity, std::any(billing::InboxCommand(std::move(hint))),
        [self = shared_from_this()](std::any reply) { self->stored(reply); });
  }

  void stored(const std::any& reply) {
    const auto* known = std::any_cast<billing::InboxReply>(&reply);
    if (known == nullptr) return uncertain();
    if (const auto* told = std::get_if<billing::InboxTold>(known)) {
      return answer_(received(told->duplicate ? "duplicate" : "inbox",
                              "no obligation here accounts for " + event_.object));
    }
    if (const auto* refused = std::get_if<billing::InboxRefused>(known)) {
      return answer_(refusal(ProblemKind::bad_request, refused->detail));
    }
    const auto* turned_down = std::get_if<billing::InboxTurnedDown>(known);
    answer_(turned_down_answer(turned_down == nullptr ? Turndown::uncertain : turned_down->why));
  }

  /// Whom the object names, for people; foreign text, hence only what is visible of it, cut.
  [[nodiscard]] std::string about() const {
    std::string text;
    for (const auto* part : {&event_.customer, &event_.period, &event_.purpose}) {
      if (part->empty()) continue;
      if (!text.empty()) text += " ";
      for (const char c : part->substr(0, 128)) text += c > ' ' && c <= '~' ? c : '?';
    }
    return text;
  }

  void uncertain() { answer_(turned_down_answer(Turndown::uncertain)); }

  Services& services_;
  const WebhookEvent event_;
  const Answer answer_;
};

/// Absent if who sent it may have sent it.
std::optional<platform::HttpResponse> unverified(const Services& services, const Call& call) {
  if (services.webhook_secrets.is_empty()) {
    return deliver_again(ProblemKind::not_ready,
                         "this node cannot verify events: configure [webhooks] secret_credential "
                         "or secret_file");
  }
  if (platform::count_headers(call.request.headers, signature_header) > 1) {
    return refusal(ProblemKind::signature_invalid,
                   std::string(signature_header) + " was sent twice");
  }
  const auto header = platform::find_header(call.request.headers, signature_header).value_or("");
  const auto verified = verify_signature({.header = header, .body = call.request.body},
                                         services.webhook_secrets, services.now().wall);
  if (verified) return std::nullopt;
  return refusal(ProblemKind::signature_invalid, verified.error().context);
}

std::string mode_refusal(const WebhookEvent& event, Mode ours) {
  return "the event is of mode " + std::string(to_text(event.mode)) + ", this node bills in mode " +
         std::string(to_text(ours)) + "; give each endpoint the events of its mode";
}

}  // namespace

void post_webhook(Services& services, Call call) {
  if (call.request.body.size() > json_bytes_max) return call.answer(too_large());
  if (auto refused = unverified(services, call)) return call.answer(std::move(*refused));
  auto event = parse_webhook_event(call.request.body);
  if (!event) return call.answer(bad_request(event.error()));
  if (event->mode != services.mode) {
    return call.answer(refusal(ProblemKind::other_mode, mode_refusal(*event, services.mode)));
  }
  if (!event->kind) {
    return call.answer(received("none", "events of type " + event->type + " are not used"));
  }
  if (!event->ns.empty() && event->ns != services.ns.value()) {
    return call.answer(received("none", "the object belongs to another namespace"));
  }
  if (auto why = services.ports.not_ready()) {
    return call.answer(deliver_again(ProblemKind::not_ready, *why));
  }
  std::make_shared<Delivery>(services, std::move(*event), std::move(call.answer))->begin();
}

}  // namespace onceward::ingress

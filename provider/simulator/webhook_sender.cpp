// Implementation of WebhookSender.
#include "provider/simulator/webhook_sender.hpp"

#include <algorithm>

#include <onceward/core/digest.hpp>

namespace onceward::provider::simulator {
namespace {

/// Further from now than any receiver tolerates.
constexpr std::int64_t stamp_shift_s = 3600;
/// A reordered event whose followers do not come is delivered all the same.
constexpr std::chrono::milliseconds reorder_wait_max{60'000};
constexpr std::chrono::milliseconds retry_first{60'000};
constexpr std::chrono::milliseconds retry_max = std::chrono::hours(12);

bool has(const std::vector<WebhookFault>& faults, WebhookFault::Kind kind) {
  return std::any_of(faults.begin(), faults.end(),
                     [&](const WebhookFault& fault) { return fault.kind == kind; });
}

void apply(const WebhookFault& fault, WebhookPlan& plan) {
  switch (fault.kind) {
    case WebhookFault::Kind::repeat:
      plan.copies += fault.n;
      return;
    case WebhookFault::Kind::twin:
      plan.twin = true;
      return;
    case WebhookFault::Kind::reorder:
      plan.behind = fault.n;
      return;
    case WebhookFault::Kind::delay:
      plan.delay = fault.delay;
      return;
    case WebhookFault::Kind::lose:
      plan.lost = true;
      return;
    case WebhookFault::Kind::early:
      plan.early = true;
      return;
    case WebhookFault::Kind::bad_signature:
    case WebhookFault::Kind::old_stamp:
    case WebhookFault::Kind::future_stamp:
    case WebhookFault::Kind::truncated:
      return;
  }
}

/// Headers and body of one attempt.
void dress(WebhookCall& call, const std::string& whole, std::vector<std::string> secrets,
           const std::vector<WebhookFault>& faults, Timestamp now) {
  std::int64_t stamp_s = now.ms / 1000;
  if (has(faults, WebhookFault::Kind::old_stamp)) stamp_s -= stamp_shift_s;
  if (has(faults, WebhookFault::Kind::future_stamp)) stamp_s += stamp_shift_s;
  if (has(faults, WebhookFault::Kind::bad_signature)) secrets.assign(1, "whsec_of_somebody_else");
  call.body = whole;
  bool sign_what_is_left = false;
  for (const WebhookFault& fault : faults) {
    if (fault.kind != WebhookFault::Kind::truncated) continue;
    call.body.resize(whole.size() / 2);
    sign_what_is_left = fault.is_signed;
  }
  call.headers.emplace_back("Content-Type", "application/json; charset=utf-8");
  call.headers.emplace_back("User-Agent", "Stripe/1.0 (simulator)");
  call.headers.emplace_back("Stripe-Signature",
                            sign_webhook(secrets, stamp_s, sign_what_is_left ? call.body : whole));
}

}  // namespace

std::chrono::milliseconds webhook_retry_delay(std::uint32_t attempts_made) noexcept {
  std::chrono::milliseconds delay = retry_first;
  for (std::uint32_t nr = 1; nr < attempts_made && delay < retry_max; ++nr) delay *= 2;
  return std::min(delay, retry_max);
}

std::string sign_webhook(const std::vector<std::string>& secrets, std::int64_t stamp_s,
                         std::string_view body) {
  const std::string stamp = std::to_string(stamp_s);
  std::string header = "t=" + stamp;
  const std::string text = stamp + "." + std::string(body);
  for (const std::string& secret : secrets) {
    header.append(",v1=").append(to_hex(hmac_sha256(secret, text)));
  }
  return header.append(",v0=").append(to_hex(sha256(text)));
}

WebhookEndpoint& WebhookSender::add(WebhookEndpoint endpoint) {
  endpoints_.push_back(std::move(endpoint));
  save(endpoints_.back());
  return endpoints_.back();
}

WebhookEndpoint* WebhookSender::find(const std::string& id) {
  const auto found =
      std::find_if(endpoints_.begin(), endpoints_.end(),
                   [&](const WebhookEndpoint& endpoint) { return endpoint.id == id; });
  return found == endpoints_.end() ? nullptr : &*found;
}

void WebhookSender::save(const WebhookEndpoint& endpoint) {
  changes_.put("webhook_endpoint", endpoint.id, [&] { return to_stored(endpoint); });
}

void WebhookSender::remove(const std::string& id) {
  std::erase_if(endpoints_, [&](const WebhookEndpoint& endpoint) { return endpoint.id == id; });
  std::erase_if(queue_, [&](const auto& entry) { return entry.second.endpoint == id; });
  changes_.put("webhook_endpoint", id, [] { return std::string(); });
}

WebhookPlan WebhookSender::plan(const RequestFacts& facts, Timestamp driver_now) {
  WebhookPlan plan;
  if (endpoints_.empty()) return plan;
  for (const WebhookFault& fault : faults_.take_webhook(facts, driver_now, false, plan.faults)) {
    apply(fault, plan);
  }
  plan.chaos = chaos_.draw(facts);
  const auto* drawn = plan.chaos ? std::get_if<WebhookFault>(&plan.chaos->action) : nullptr;
  if (drawn != nullptr && !drawn->is_of_attempt()) {
    apply(*drawn, plan);
    note_fault(plan.faults, plan.chaos->name);
    plan.chaos.reset();
  }
  return plan;
}

/// Events that wait for later ones see one more go by.
void WebhookSender::let_one_pass(Timestamp now) {
  std::vector<Place> free;
  for (auto& [place, delivery] : queue_) {
    if (delivery.behind > 0 && --delivery.behind == 0) free.push_back(place);
  }
  for (const Place& place : free) {
    auto node = queue_.extract(place);
    // A new number puts it behind what was queued at the same time.
    node.mapped().nr = ++last_delivery_;
    node.key() = {now, node.mapped().nr};
    queue_.insert(std::move(node));
  }
}

std::vector<std::uint64_t> WebhookSender::enqueue(const ProviderEvent& event,
                                                  const RequestFacts& facts,
                                                  const WebhookPlan& plan, Timestamp now) {
  std::vector<std::uint64_t> awaited;
  if (plan.lost) return awaited;
  const auto pending =
      std::count_if(endpoints_.begin(), endpoints_.end(), [&](const WebhookEndpoint& endpoint) {
        return endpoint.enabled && endpoint.takes(event.type);
      });
  if (pending == 0) return awaited;
  const auto body =
      std::make_shared<const std::string>(event_text(event, static_cast<std::uint64_t>(pending)));
  std::vector<Delivery> made;
  for (const WebhookEndpoint& endpoint : endpoints_) {
    if (!endpoint.enabled || !endpoint.takes(event.type)) continue;
    for (std::uint64_t copy = 0; copy < plan.copies; ++copy) {
      Delivery delivery;
      delivery.endpoint = endpoint.id;
      delivery.event = event.id;
      delivery.body = body;
      delivery.facts = facts;
      delivery.made_at = now;
      delivery.behind = plan.behind;
      delivery.faults = plan.faults;
      delivery.chaos = plan.chaos;
      made.push_back(std::move(delivery));
    }
  }
  const Timestamp due = now.plus(plan.behind > 0 ? reorder_wait_max : plan.delay);
  for (Delivery& delivery : made) {
    if (pending_max_ <= this->pending()) {
      ++dropped_;
      continue;
    }
    delivery.nr = ++last_delivery_;
    if (plan.early) awaited.push_back(delivery.nr);
    const Place place{due, delivery.nr};
    queue_.emplace(place, std::move(delivery));
  }
  if (plan.behind == 0) let_one_pass(now);
  return awaited;
}

std::vector<WebhookFault> WebhookSender::attempt_faults(Delivery& delivery, Timestamp driver_now,
                                                        std::string& acted) {
  auto faults = faults_.take_webhook(delivery.facts, driver_now, true, acted);
  if (delivery.chaos) {
    faults.push_back(std::get<WebhookFault>(delivery.chaos->action));
    note_fault(acted, delivery.chaos->name);
    delivery.chaos.reset();
  }
  return faults;
}

std::optional<WebhookCall> WebhookSender::take(Timestamp now, Timestamp driver_now) {
  while (!queue_.empty() && queue_.begin()->first.first <= now) {
    Delivery delivery = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    const WebhookEndpoint* endpoint = find(delivery.endpoint);
    if (endpoint == nullptr || !endpoint->enabled) continue;
    ++delivery.attempts;
    WebhookCall call;
    call.nr = ++last_attempt_;
    call.endpoint = endpoint->id;
    call.url = endpoint->url;
    call.event = delivery.event;
    call.type = delivery.facts.event;
    call.attempt = delivery.attempts;
    WebhookAttempt row;
    row.faults = delivery.faults;
    const auto faults = attempt_faults(delivery, driver_now, row.faults);
    dress(call, *delivery.body, endpoint->active_secrets(now), faults, now);
    row.nr = call.nr;
    row.endpoint = call.endpoint;
    row.event = call.event;
    row.type = call.type;
    row.attempt = call.attempt;
    row.at = now;
    if (log_.size() >= log_max_) log_.pop_front();
    log_.push_back(std::move(row));
    under_way_.emplace(call.nr, std::move(delivery));
    return call;
  }
  return std::nullopt;
}

std::uint64_t WebhookSender::answered(std::uint64_t nr, std::optional<int> status, Timestamp now) {
  const auto found = under_way_.find(nr);
  if (found == under_way_.end()) return 0;
  Delivery delivery = std::move(found->second);
  under_way_.erase(found);
  const auto row = std::find_if(log_.rbegin(), log_.rend(),
                                [&](const WebhookAttempt& known) { return known.nr == nr; });
  if (row != log_.rend()) {
    row->outcome = status ? "answered" : "unanswered";
    row->status = status.value_or(0);
  }
  const std::uint64_t delivery_nr = delivery.nr;
  if (status && *status >= 200 && *status < 300) return delivery_nr;
  const Timestamp next = now.plus(webhook_retry_delay(delivery.attempts));
  if (next.ms - delivery.made_at.ms > std::chrono::milliseconds(webhook_retries_end).count()) {
    ++given_up_;
  } else {
    const Place place{next, delivery.nr};
    queue_.emplace(place, std::move(delivery));
  }
  return delivery_nr;
}

std::optional<Timestamp> WebhookSender::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.first;
}

Result<Unit> WebhookSender::restore(std::string_view text) {
  auto endpoint = parse_webhook_endpoint(text);
  if (!endpoint) return Unexpected{std::move(endpoint).error()};
  endpoints_.push_back(*std::move(endpoint));
  return ok();
}

void WebhookSender::clear() {
  endpoints_.clear();
  queue_.clear();
  under_way_.clear();
  log_.clear();
  dropped_ = 0;
  given_up_ = 0;
}

}  // namespace onceward::provider::simulator

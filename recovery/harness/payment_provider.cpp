// The provider's rules that matter to billing, as small as they can be said.
#include <onceward/harness/payment_provider.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include "recovery/harness/hash.hpp"

namespace onceward::harness {

std::string value_of(const Params& params, const std::string& name) {
  for (const auto& [n, v] : params) {
    if (n == name) return v;
  }
  return {};
}

std::string_view to_text(Fate fate) noexcept {
  static constexpr std::string_view names[] = {
      "ok",           "lost_before",    "lost_after",     "saved_500",
      "failed_500",   "declined",       "limited",        "not_sent",
      "late",         "gateway_before", "gateway_after",  "in_use",
      "unauthorized", "invalid",        "resent",         "bad_body",
      "wrong_amount", "processing",     "requires_action"};
  return names[static_cast<std::size_t>(fate)];
}

namespace {

// -1 if it is no number: an object of such an amount matches nothing.
std::int64_t number_of(const std::string& text) {
  std::int64_t number = -1;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string billing_subject(const Params& metadata) {
  return value_of(metadata, "onceward_customer") + "/" + value_of(metadata, "onceward_period") +
         "/" + value_of(metadata, "onceward_purpose");
}

ExternalAnswer answer_to(const ExternalRequest& request, Observation observation) {
  ExternalAnswer answer;
  answer.key = request.key;
  answer.operation = request.operation;
  answer.observation = observation;
  answer.single_wire_send = true;
  return answer;
}

ExternalAnswer with_object(const ExternalRequest& request, ProviderObject object) {
  ExternalAnswer answer = answer_to(request, Observation::object);
  answer.objects.push_back(std::move(object));
  return answer;
}

std::string digest_of(const ExternalRequest& request) {
  std::string digest = std::string(to_text(request.operation)) + " " + request.target;
  Params sorted = request.params;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [n, v] : sorted) digest += "&" + n + "=" + v;
  return digest;
}

ProviderObject object_from(const ExternalRequest& request, Timestamp now) {
  ProviderObject object;
  object.amount_minor = number_of(value_of(request.params, "amount"));
  object.currency = value_of(request.params, "currency");
  object.customer = value_of(request.params, "customer");
  object.created_s = now.ms / 1000;
  for (const auto& [n, v] : request.params) {
    if (n.rfind("metadata[", 0) == 0) object.metadata.emplace_back(n.substr(9, n.size() - 10), v);
  }
  return object;
}

}  // namespace

PaymentProvider::PaymentProvider(PaymentProviderOptions options) : options_(std::move(options)) {
  if (!options_.subject_of) options_.subject_of = billing_subject;
}

std::unique_ptr<ProviderModel> PaymentProvider::clone() const {
  return std::make_unique<PaymentProvider>(*this);
}

ExternalAnswer PaymentProvider::handle(const ExternalRequest& request, Fate fate, Timestamp now) {
  pass(now);
  if (fate == Fate::lost_before) return answer_to(request, Observation::broken);
  if (fate == Fate::not_sent) return answer_to(request, Observation::not_sent);
  if (is_look_up(request.operation)) {
    if (fate == Fate::limited) return answer_to(request, Observation::rate_limited);
    if (fate == Fate::failed_500) return answer_to(request, Observation::server_error);
    return look_up(request);
  }
  if (fate == Fate::late) {
    late_.push_back({request, now.plus(options_.late_by)});
    return answer_to(request, Observation::broken);
  }
  ExternalAnswer answer = arrive(request, fate, now);
  if (fate != Fate::resent) return answer;
  answer = arrive(request, Fate::ok, now);
  answer.single_wire_send = false;
  return answer;
}

void PaymentProvider::pass(Timestamp now) {
  for (const auto& late : std::exchange(late_, {})) {
    if (now < late.at) {
      late_.push_back(late);
    } else {
      (void)arrive(late.request, Fate::ok, late.at);  // nobody waits for the answer any more
    }
  }
}

ExternalAnswer PaymentProvider::arrive(const ExternalRequest& request, Fate fate, Timestamp now) {
  if (fate == Fate::limited) return answer_to(request, Observation::rate_limited);
  if (fate == Fate::unauthorized) return answer_to(request, Observation::unauthorized);
  if (fate == Fate::invalid) return answer_to(request, Observation::invalid_request);
  if (fate == Fate::in_use) return answer_to(request, Observation::key_in_use);
  if (fate == Fate::gateway_before) return answer_to(request, Observation::gateway_error);
  const auto found = keys_.find(request.key.value());
  const bool known =
      found != keys_.end() && now.ms - found->second.at.ms < options_.retention.count();
  if (found != keys_.end() && !known) ++forgotten_keys_used_;
  if (known && found->second.digest != digest_of(request)) {
    return answer_to(request, Observation::key_mismatch);
  }
  ExternalAnswer answer;
  if (known) {
    answer = found->second.answer;
  } else {
    const bool fails = fate == Fate::failed_500;
    answer = fails ? answer_to(request, Observation::server_error) : execute(request, fate, now);
    if (fate == Fate::saved_500) answer = answer_to(request, Observation::server_error);
    keys_[request.key.value()] = Saved{digest_of(request), answer, now};
  }
  if (fate == Fate::lost_after) return answer_to(request, Observation::broken);
  if (fate == Fate::gateway_after) return answer_to(request, Observation::gateway_error);
  if (fate == Fate::bad_body) return answer_to(request, Observation::bad_body);
  if (fate == Fate::wrong_amount) {
    for (auto& object : answer.objects) object.amount_minor += 1;
  }
  return answer;
}

ExternalAnswer PaymentProvider::execute(const ExternalRequest& request, Fate fate, Timestamp now) {
  if (request.operation == Operation::create_charge) return charge(request, fate, now);
  if (request.operation != Operation::create_intent) return confirm(request, request.target, fate);
  ExternalAnswer created = create(request, now);
  if (value_of(request.params, "confirm") != "true") return created;
  return confirm(request, created.objects.front().id, fate);
}

ExternalAnswer PaymentProvider::charge(const ExternalRequest& request, Fate fate, Timestamp now) {
  ProviderObject object = object_from(request, now);
  object.object = "charge";
  object.id = "ch_" + std::to_string(next_id_++);
  if (fate == Fate::declined) {
    refuse(object);
    objects_[object.id] = object;
    ExternalAnswer answer = answer_to(request, Observation::declined);
    answer.code = object.failure_code;
    answer.decline_code = object.decline_code;
    return answer;
  }
  object.status = fate == Fate::processing ? "pending" : "succeeded";
  objects_[object.id] = object;
  if (object.status == "succeeded") book(object, object.id, request.key.value());
  return with_object(request, object);
}

ExternalAnswer PaymentProvider::create(const ExternalRequest& request, Timestamp now) {
  ProviderObject object = object_from(request, now);
  object.object = "payment_intent";
  object.id = "pi_" + std::to_string(next_id_++);
  object.status = "requires_confirmation";
  objects_[object.id] = object;
  return with_object(request, object);
}

ExternalAnswer PaymentProvider::confirm(const ExternalRequest& request, const std::string& id,
                                        Fate fate) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return answer_to(request, Observation::not_found);
  ProviderObject& intent = found->second;
  if (intent.status != "requires_confirmation" && intent.status != "requires_payment_method") {
    return answer_to(request, Observation::unexpected_state);
  }
  if (fate == Fate::declined) {
    refuse(intent);
    ExternalAnswer answer = answer_to(request, Observation::declined);
    answer.code = intent.failure_code;
    answer.decline_code = intent.decline_code;
    answer.objects.push_back(intent);
    return answer;
  }
  if (fate == Fate::processing || fate == Fate::requires_action) {
    intent.status = fate == Fate::processing ? "processing" : "requires_action";
    return with_object(request, intent);
  }
  intent.status = "succeeded";
  intent.charge = "ch_" + std::to_string(next_id_++);
  book(intent, intent.charge, request.key.value());
  return with_object(request, intent);
}

void PaymentProvider::refuse(ProviderObject& object) {
  const bool intent = object.object == "payment_intent";
  object.status = intent ? "requires_payment_method" : "failed";
  object.failure_code = "card_declined";
  object.decline_code = "insufficient_funds";
  if (intent) object.failure_charge = "ch_" + std::to_string(next_id_++);
}

void PaymentProvider::finish_processing(bool paid) {
  for (auto& [id, object] : objects_) {
    const bool intent = object.status == "processing" || object.status == "requires_action";
    if (!intent && object.status != "pending") continue;
    if (!paid) {
      refuse(object);
      continue;
    }
    object.status = "succeeded";
    if (intent) object.charge = "ch_" + std::to_string(next_id_++);
    book(object, intent ? object.charge : object.id, "");
  }
}

void PaymentProvider::cancel_open_intents() {
  for (auto& [id, object] : objects_) {
    if (object.status == "requires_confirmation" || object.status == "requires_payment_method") {
      object.status = "canceled";
    }
  }
}

ExternalAnswer PaymentProvider::look_up(const ExternalRequest& request) const {
  ExternalAnswer answer = answer_to(request, Observation::object);
  if (request.operation == Operation::get_intent) {
    const auto found = objects_.find(request.target);
    if (found == objects_.end()) return answer_to(request, Observation::not_found);
    answer.objects.push_back(found->second);
    return answer;
  }
  const std::string kind =
      request.operation == Operation::list_charges ? "charge" : "payment_intent";
  for (const auto& [id, object] : objects_) {
    if (object.object == kind && object.customer == value_of(request.params, "customer") &&
        object.created_s >= number_of(value_of(request.params, "created[gte]"))) {
      answer.objects.push_back(object);
    }
  }
  const auto number = [](const ProviderObject& o) { return number_of(o.id.substr(3)); };
  std::sort(answer.objects.begin(), answer.objects.end(),
            [&](const auto& a, const auto& b) { return number(a) > number(b); });
  return answer;
}

void PaymentProvider::book(const ProviderObject& object, const std::string& charge,
                           const std::string& key) {
  ledger_.push_back({options_.subject_of(object.metadata), charge, key, object.amount_minor});
}

std::uint64_t PaymentProvider::state_hash() const {
  Hash h;
  for (const auto& [key, saved] : keys_) {
    h.add(key).add(saved.digest).add(static_cast<std::uint64_t>(saved.at.ms));
    h.add(static_cast<std::uint64_t>(saved.answer.observation));
  }
  for (const auto& [id, object] : objects_) {
    h.add(id).add(object.status).add(object.charge).add(object.failure_charge);
    h.add(static_cast<std::uint64_t>(object.amount_minor));
  }
  for (const auto& row : ledger_) h.add(row.subject).add(row.charge);
  for (const auto& late : late_) {
    h.add(late.request.key.value()).add(static_cast<std::uint64_t>(late.at.ms));
  }
  return h.add(static_cast<std::uint64_t>(next_id_)).value();
}

int PaymentProvider::open_intents() const {
  return static_cast<int>(std::count_if(objects_.begin(), objects_.end(), [](const auto& o) {
    return o.second.status == "requires_confirmation" ||
           o.second.status == "requires_payment_method";
  }));
}

}  // namespace onceward::harness

// The provider's rules that matter to billing, as small as they can be said.
#include "tests/support/fake_provider.hpp"

#include <algorithm>

namespace onceward::testing {

std::string value_of(const Params& params, const std::string& name) {
  for (const auto& [n, v] : params) {
    if (n == name) return v;
  }
  return {};
}

namespace {

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
  object.amount_minor = std::stoll(value_of(request.params, "amount"));
  object.currency = value_of(request.params, "currency");
  object.customer = value_of(request.params, "customer");
  object.created_s = now.ms / 1000;
  for (const auto& [n, v] : request.params) {
    if (n.rfind("metadata[", 0) == 0) object.metadata.emplace_back(n.substr(9, n.size() - 10), v);
  }
  return object;
}

}  // namespace

ExternalAnswer FakeProvider::handle(const ExternalRequest& request, Fate fate, Timestamp now) {
  if (fate == Fate::lost_before) return answer_to(request, Observation::broken);
  if (is_look_up(request.operation)) return look_up(request);
  wire_.push_back({request.operation, request.key.value(), request.target, request.params});
  if (fate == Fate::limited) return answer_to(request, Observation::rate_limited);
  const auto found = keys_.find(request.key.value());
  if (found != keys_.end() && now.ms - found->second.at.ms < retention_.count()) {
    if (found->second.digest != digest_of(request)) {
      return answer_to(request, Observation::key_mismatch);
    }
    if (fate == Fate::lost_after) return answer_to(request, Observation::broken);
    return found->second.answer;
  }
  ExternalAnswer answer;
  if (fate == Fate::failed_500) {
    answer = answer_to(request, Observation::server_error);
  } else {
    answer = execute(request, fate, now);
    if (fate == Fate::saved_500) answer = answer_to(request, Observation::server_error);
  }
  keys_[request.key.value()] = Saved{digest_of(request), answer, now};
  if (fate == Fate::lost_after) return answer_to(request, Observation::broken);
  return answer;
}

ExternalAnswer FakeProvider::execute(const ExternalRequest& request, Fate fate, Timestamp now) {
  if (request.operation == Operation::create_charge) return charge(request, fate, now);
  if (request.operation == Operation::create_intent) return create(request, now);
  return confirm(request, fate);
}

ExternalAnswer FakeProvider::charge(const ExternalRequest& request, Fate fate, Timestamp now) {
  if (fate == Fate::declined) {
    ExternalAnswer answer = answer_to(request, Observation::declined);
    answer.code = "card_declined";
    answer.decline_code = "insufficient_funds";
    return answer;
  }
  ProviderObject object = object_from(request, now);
  object.object = "charge";
  object.id = "ch_" + std::to_string(next_id_++);
  object.status = "succeeded";
  objects_[object.id] = object;
  book(object, object.id, request.key.value());
  return with_object(request, object);
}

ExternalAnswer FakeProvider::create(const ExternalRequest& request, Timestamp now) {
  ProviderObject object = object_from(request, now);
  object.object = "payment_intent";
  object.id = "pi_" + std::to_string(next_id_++);
  object.status = "requires_confirmation";
  objects_[object.id] = object;
  return with_object(request, object);
}

ExternalAnswer FakeProvider::confirm(const ExternalRequest& request, Fate fate) {
  const auto found = objects_.find(request.target);
  if (found == objects_.end()) return answer_to(request, Observation::not_found);
  ProviderObject& intent = found->second;
  if (intent.status == "succeeded" || intent.status == "canceled") {
    return answer_to(request, Observation::unexpected_state);
  }
  if (fate == Fate::declined) {
    intent.status = "requires_payment_method";
    intent.failure_charge = "ch_" + std::to_string(next_id_++);
    intent.failure_code = "card_declined";
    intent.decline_code = "insufficient_funds";
    ExternalAnswer answer = answer_to(request, Observation::declined);
    answer.code = intent.failure_code;
    answer.decline_code = intent.decline_code;
    answer.objects.push_back(intent);
    return answer;
  }
  intent.status = "succeeded";
  intent.charge = "ch_" + std::to_string(next_id_++);
  book(intent, intent.charge, request.key.value());
  return with_object(request, intent);
}

ExternalAnswer FakeProvider::look_up(const ExternalRequest& request) const {
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
        object.created_s >= std::stoll(value_of(request.params, "created[gte]"))) {
      answer.objects.insert(answer.objects.begin(), object);
    }
  }
  return answer;
}

void FakeProvider::book(const ProviderObject& object, const std::string& charge,
                        const std::string& key) {
  ledger_.push_back(
      {value_of(object.metadata, "onceward_customer"), value_of(object.metadata, "onceward_period"),
       value_of(object.metadata, "onceward_purpose"), charge, key, object.amount_minor});
}

int FakeProvider::open_intents() const {
  return static_cast<int>(std::count_if(objects_.begin(), objects_.end(), [](const auto& o) {
    return o.second.status == "requires_confirmation" ||
           o.second.status == "requires_payment_method";
  }));
}

}  // namespace onceward::testing

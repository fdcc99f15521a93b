// The provider's rules that matter to billing, as small as they can be said.
#include "tests/support/fake_provider.hpp"

#include <algorithm>
#include <utility>

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
  deliver_late(now);
  if (fate == Fate::lost_before) return answer_to(request, Observation::broken);
  if (fate == Fate::not_sent) return answer_to(request, Observation::not_sent);
  if (is_look_up(request.operation)) {
    if (fate == Fate::limited) return answer_to(request, Observation::rate_limited);
    if (fate == Fate::failed_500) return answer_to(request, Observation::server_error);
    return look_up(request);
  }
  if (fate == Fate::late) {
    late_.push_back({request, now.plus(late_by)});
    return answer_to(request, Observation::broken);
  }
  ExternalAnswer answer = arrive(request, fate, now);
  if (fate != Fate::resent) return answer;
  answer = arrive(request, Fate::ok, now);
  answer.single_wire_send = false;
  return answer;
}

void FakeProvider::deliver_late(Timestamp now) {
  for (const auto& late : std::exchange(late_, {})) {
    if (now < late.at) {
      late_.push_back(late);
    } else {
      (void)arrive(late.request, Fate::ok, late.at);  // nobody waits for the answer any more
    }
  }
}

ExternalAnswer FakeProvider::arrive(const ExternalRequest& request, Fate fate, Timestamp now) {
  wire_.push_back({request.operation, request.key.value(), request.target, request.params});
  if (fate == Fate::limited) return answer_to(request, Observation::rate_limited);
  if (fate == Fate::unauthorized) return answer_to(request, Observation::unauthorized);
  if (fate == Fate::invalid) return answer_to(request, Observation::invalid_request);
  if (fate == Fate::in_use) return answer_to(request, Observation::key_in_use);
  if (fate == Fate::gateway_before) return answer_to(request, Observation::gateway_error);
  const auto found = keys_.find(request.key.value());
  const bool known = found != keys_.end() && now.ms - found->second.at.ms < retention_.count();
  if (found != keys_.end() && !known) ++expired_keys_used_;
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

ExternalAnswer FakeProvider::execute(const ExternalRequest& request, Fate fate, Timestamp now) {
  if (request.operation == Operation::create_charge) return charge(request, fate, now);
  if (request.operation == Operation::create_refund) return refund(request, fate, now);
  if (request.operation == Operation::cancel_intent) return cancel(request);
  if (request.operation != Operation::create_intent) return confirm(request, request.target, fate);
  ExternalAnswer created = create(request, now);
  if (value_of(request.params, "confirm") != "true") return created;
  return confirm(request, created.objects.front().id, fate);
}

ExternalAnswer FakeProvider::charge(const ExternalRequest& request, Fate fate, Timestamp now) {
  ProviderObject object = object_from(request, now);
  object.object = "charge";
  object.id = "ch_" + std::to_string(next_id_++);
  if (refuses(request, fate)) {
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

ExternalAnswer FakeProvider::create(const ExternalRequest& request, Timestamp now) {
  ProviderObject object = object_from(request, now);
  object.object = "payment_intent";
  object.id = "pi_" + std::to_string(next_id_++);
  object.status = "requires_confirmation";
  objects_[object.id] = object;
  return with_object(request, object);
}

ExternalAnswer FakeProvider::confirm(const ExternalRequest& request, const std::string& id,
                                     Fate fate) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return answer_to(request, Observation::not_found);
  ProviderObject& intent = found->second;
  if (intent.status != "requires_confirmation" && intent.status != "requires_payment_method") {
    return answer_to(request, Observation::unexpected_state);
  }
  if (refuses(request, fate)) {
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

bool FakeProvider::refuses(const ExternalRequest& request, Fate fate) const {
  if (fate == Fate::declined) return true;
  const std::string method = value_of(request.params, "payment_method");
  const std::string source = value_of(request.params, "source");
  return !refused_method.empty() && (method == refused_method || source == refused_method);
}

ExternalAnswer FakeProvider::cancel(const ExternalRequest& request) {
  const auto found = objects_.find(request.target);
  if (found == objects_.end()) return answer_to(request, Observation::not_found);
  ProviderObject& intent = found->second;
  const bool payable = intent.status == "requires_confirmation" ||
                       intent.status == "requires_payment_method" ||
                       intent.status == "requires_action";
  if (!payable) return answer_to(request, Observation::unexpected_state);
  intent.status = "canceled";
  return with_object(request, intent);
}

void FakeProvider::pay_open_intents() {
  for (auto& [id, object] : objects_) {
    if (object.status != "requires_confirmation" && object.status != "requires_payment_method") {
      continue;
    }
    object.status = "succeeded";
    object.charge = "ch_" + std::to_string(next_id_++);
    book(object, object.charge, "");
  }
}

void FakeProvider::refuse(ProviderObject& object) {
  const bool intent = object.object == "payment_intent";
  object.status = intent ? "requires_payment_method" : "failed";
  object.failure_code = "card_declined";
  object.decline_code = decline_code;
  if (intent) object.failure_charge = "ch_" + std::to_string(next_id_++);
}

bool FakeProvider::has_processing() const {
  return std::any_of(objects_.begin(), objects_.end(), [](const auto& o) {
    const bool refund = o.second.object == "refund";
    return !refund && (o.second.status == "processing" || o.second.status == "pending" ||
                       o.second.status == "requires_action");
  });
}

void FakeProvider::finish_processing(bool paid) {
  for (auto& [id, object] : objects_) {
    if (object.object == "refund") continue;
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

void FakeProvider::cancel_open_intents() {
  for (auto& [id, object] : objects_) {
    if (object.status == "requires_confirmation" || object.status == "requires_payment_method") {
      object.status = "canceled";
    }
  }
}

ExternalAnswer FakeProvider::look_up(const ExternalRequest& request) const {
  ExternalAnswer answer = answer_to(request, Observation::object);
  if (request.operation == Operation::list_refunds) return list_refunds(request);
  if (request.operation == Operation::get_intent || request.operation == Operation::get_charge) {
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
      answer.objects.push_back(object);
    }
  }
  const auto number = [](const ProviderObject& o) { return std::stoi(o.id.substr(3)); };
  std::sort(answer.objects.begin(), answer.objects.end(),
            [&](const auto& a, const auto& b) { return number(a) > number(b); });
  return answer;
}

ExternalAnswer FakeProvider::refund(const ExternalRequest& request, Fate fate, Timestamp now) {
  const std::string charge = value_of(request.params, "charge");
  const std::int64_t amount = std::stoll(value_of(request.params, "amount"));
  const auto paid = std::find_if(ledger_.begin(), ledger_.end(),
                                 [&](const LedgerRow& row) { return row.charge == charge; });
  if (paid == ledger_.end()) return answer_to(request, Observation::not_found);
  const std::int64_t left = paid->amount_minor - refunded(charge);
  if (amount > left) {
    ExternalAnswer refused = answer_to(request, Observation::invalid_request);
    if (left == 0) refused.code = "charge_already_refunded";
    return refused;
  }
  ProviderObject object = refund_elsewhere(charge, amount, now);
  for (const auto& [n, v] : request.params) {
    if (n.rfind("metadata[", 0) == 0) object.metadata.emplace_back(n.substr(9, n.size() - 10), v);
  }
  if (fate == Fate::processing) object.status = "pending";
  objects_[object.id] = object;
  return with_object(request, object);
}

ProviderObject FakeProvider::refund_elsewhere(const std::string& charge, std::int64_t amount_minor,
                                              Timestamp now) {
  ProviderObject object;
  object.object = "refund";
  object.id = "re_" + std::to_string(next_id_++);
  object.status = "succeeded";
  object.amount_minor = amount_minor;
  object.currency = "usd";
  object.charge = charge;
  object.created_s = now.ms / 1000;
  objects_[object.id] = object;
  return object;
}

ExternalAnswer FakeProvider::list_refunds(const ExternalRequest& request) const {
  ExternalAnswer answer = answer_to(request, Observation::object);
  for (const auto& object : refunds()) {
    if (object.charge == value_of(request.params, "charge")) answer.objects.push_back(object);
  }
  std::reverse(answer.objects.begin(), answer.objects.end());
  return answer;
}

std::vector<ProviderObject> FakeProvider::refunds() const {
  std::vector<ProviderObject> found;
  for (const auto& [id, object] : objects_) {
    if (object.object == "refund") found.push_back(object);
  }
  const auto number = [](const ProviderObject& o) { return std::stoi(o.id.substr(3)); };
  std::sort(found.begin(), found.end(),
            [&](const auto& a, const auto& b) { return number(a) < number(b); });
  return found;
}

std::int64_t FakeProvider::refunded(const std::string& charge) const {
  std::int64_t sum = 0;
  for (const auto& object : refunds()) {
    if (object.charge == charge && object.status != "failed") sum += object.amount_minor;
  }
  return sum;
}

void FakeProvider::finish_refunds(const std::string& status) {
  for (auto& [id, object] : objects_) {
    if (object.object == "refund" && object.status == "pending") object.status = status;
  }
}

ProviderObject FakeProvider::pay_elsewhere(const Params& metadata, std::int64_t amount_minor,
                                           Timestamp now) {
  ProviderObject intent;
  intent.object = "payment_intent";
  intent.id = "pi_" + std::to_string(next_id_++);
  intent.status = "succeeded";
  intent.amount_minor = amount_minor;
  intent.currency = "usd";
  intent.customer = "cus_1";
  intent.charge = "ch_" + std::to_string(next_id_++);
  intent.created_s = now.ms / 1000;
  intent.metadata = metadata;
  objects_[intent.id] = intent;
  book(intent, intent.charge, "");
  return intent;
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

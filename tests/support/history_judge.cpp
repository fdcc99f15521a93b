// One rule after the other; each names the invariant it holds.
#include "tests/support/history_judge.hpp"

#include <algorithm>
#include <utility>

namespace onceward::testing {

using namespace onceward::billing;  // NOLINT: a judge of that module

namespace {

std::string text_of(const ExternalRequest& request) {
  std::string text = std::string(to_text(request.operation)) + " " + request.target;
  for (const auto& [name, value] : request.params) text += "&" + name + "=" + value;
  return text;
}

}  // namespace

void HistoryJudge::broke(const PeriodPurpose& of, const std::string& rule) {
  if (broken_.empty()) broken_ = of.period.text() + "/" + of.purpose.value() + ": " + rule;
}

void HistoryJudge::read(journal::JournalReader& reader) {
  static const EventCodec<BillingEvent> codec = billing_event_codec();
  auto end =
      reader.scan(position_, [this](std::uint64_t, const PersistenceId& id, StoredEvent&& stored) {
        if (!customer_of(id)) return true;
        auto event = codec.decode(stored.event);
        if (event) {
          take(*event);
        } else if (broken_.empty()) {
          broken_ = "an event does not decode";
        }
        return true;
      });
  if (end) position_ = *end;
}

void HistoryJudge::take(const BillingEvent& event) {
  const PeriodPurpose& of = subject_of(event);
  Obligation& ob = obligations_[of];
  const bool reads_only =
      std::holds_alternative<LookUpOwed>(event) || std::holds_alternative<LookUpAnswered>(event);
  if (ob.completed && !reads_only) broke(of, "an event follows the completion");
  if (const auto* request = std::get_if<RequestStarted>(&event)) {
    started(ob, *request);
  } else if (const auto* declined = std::get_if<AttemptDeclined>(&event)) {
    if (declined->attempt != ob.declines + 1) broke(of, "an attempt was declined twice or skipped");
    ++ob.declines;
    ob.may_renew = true;
  } else if (const auto* rejected = std::get_if<RequestRejected>(&event)) {
    if (!rejected->retry_at) ob.may_renew = true;
    ob.may_cancel = true;  // that send did nothing: what it was about may be called off
  } else if (const auto* unknown = std::get_if<OutcomeUnknown>(&event)) {
    const bool proof = unknown->looked_up == LookedUp::unpaid_same ||
                       (unknown->looked_up == LookedUp::absent && !ob.moves_money);
    ob.may_renew = ob.may_renew || proof;
  } else if (std::holds_alternative<PaymentIntentCreated>(event) && !ob.moves_money) {
    ob.may_renew = true;
  } else if (std::holds_alternative<PaymentIntentCanceled>(event)) {
    ob.may_renew = true;
  } else if (const auto* pending = std::get_if<BillingPending>(&event)) {
    // Nothing moves until the customer acts: such an intent may be cancelled.
    ob.may_cancel = pending->kind == BillingPending::Kind::action_required;
  } else if (const auto* completed = std::get_if<BillingCompleted>(&event)) {
    ob.completed = true;
    has_alarm_ = has_alarm_ || !completed->alarm.empty();
  }
}

void HistoryJudge::started(Obligation& ob, const RequestStarted& request) {
  // Attempts grow only by a journaled decline, and always by it.
  if (request.attempt != ob.declines + 1) broke(request.of, "an attempt without its decline");
  if (request.generation < ob.generation) broke(request.of, "the generation went back");
  // One open request at a time: a new key needs the outcome of the old one, or proof.
  const bool cancels = request.step == Step::cancel && ob.may_cancel;
  if (request.key.value() != ob.key && !ob.may_renew && !cancels)
    broke(request.of, "a new key on an unknown");
  Key& key = keys_[request.key.value()];
  const RequestStarted& first = key.started;
  if (key.starts > 0 &&
      (key.of != request.of || first.step != request.step || first.attempt != request.attempt ||
       first.generation != request.generation || first.intent != request.intent ||
       first.payment_method != request.payment_method)) {
    broke(request.of, "one key for two requests");
  }
  if (key.starts++ == 0) {
    key.of = request.of;
    key.started = request;
  }
  ob.may_renew = false;
  ob.may_cancel = false;
  ob.key = request.key.value();
  ob.attempt = request.attempt;
  ob.generation = request.generation;
  ob.moves_money = moves_money(request.step);
}

void HistoryJudge::on_wire(const ExternalRequest& request) {
  const auto found = keys_.find(request.key.value());
  if (found == keys_.end() || found->second.starts <= found->second.sends) {
    if (broken_.empty()) broken_ = "a send without its stored RequestStarted: " + text_of(request);
    return;
  }
  Key& key = found->second;
  const std::string wire = text_of(request);
  if (key.sends++ == 0) key.wire = wire;
  if (key.wire != wire) broke(key.of, "two sends of one key differ: " + key.wire + " / " + wire);
}

}  // namespace onceward::testing

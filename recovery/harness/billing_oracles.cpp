// One rule after the other, each by its own words; the fold of the product is not used.
#include <onceward/harness/billing_oracles.hpp>

#include <onceward/recovery/verify.hpp>

#include "recovery/harness/hash.hpp"

namespace onceward::harness {

using namespace onceward::billing;  // NOLINT: a judge of that module

void ObligationModel::committed(const CommitSeen& seen, const Truth& /*truth*/) {
  if (!seen.stored) return;
  static const EventCodec<BillingEvent> codec = billing_event_codec();
  const auto customer = customer_of(seen.unit.persistence_id);
  if (!customer) return;
  for (const auto& encoded : seen.unit.events) {
    const auto event = codec.decode(encoded);
    if (!event) return broke("an event does not decode: " + event.error().context);
    take(customer->value(), *event);
  }
}

void ObligationModel::take(const std::string& customer, const BillingEvent& event) {
  const PeriodPurpose& subject = subject_of(event);
  const std::string of = customer + "/" + subject.period.text() + "/" + subject.purpose.value();
  Obligation& ob = obligations_[of];
  if (const auto* initiated = std::get_if<BillingInitiated>(&event)) {
    if (!ob.key.empty() || ob.completed) broke(of + ": initiated again");
    (void)initiated;
  }
  if (const auto* request = std::get_if<RequestStarted>(&event)) {
    started(of, ob, *request);
  } else if (const auto* declined = std::get_if<AttemptDeclined>(&event)) {
    if (declined->attempt != ob.declines + 1) broke(of + ": an attempt declined twice or skipped");
    ++ob.declines;
    ob.may_renew = true;
  } else if (const auto* rejected = std::get_if<RequestRejected>(&event)) {
    if (!rejected->retry_at) ob.may_renew = true;
  } else if (const auto* unknown = std::get_if<OutcomeUnknown>(&event)) {
    const bool proof = unknown->looked_up == LookedUp::unpaid_same ||
                       (unknown->looked_up == LookedUp::absent && !ob.moves_money);
    ob.may_renew = ob.may_renew || proof;
  } else if (std::holds_alternative<PaymentIntentCreated>(event) && !ob.moves_money) {
    ob.may_renew = true;
  } else if (std::holds_alternative<PaymentIntentCanceled>(event)) {
    ob.may_renew = true;
  } else if (std::holds_alternative<BillingCompleted>(event)) {
    if (ob.completed) broke(of + ": completed twice");
    ob.completed = true;
  }
}

void ObligationModel::started(const std::string& of, Obligation& ob,
                              const RequestStarted& request) {
  if (ob.completed) broke(of + ": a request follows the completion");
  if (request.attempt != ob.declines + 1) broke(of + ": an attempt without its decline");
  if (request.generation < ob.generation) broke(of + ": the generation went back");
  if (request.key.value() != ob.key && !ob.may_renew) broke(of + ": a new key on an unknown");
  Key& key = keys_[request.key.value()];
  const RequestStarted& first = key.started;
  if (key.starts > 0 &&
      (key.of != of || first.step != request.step || first.attempt != request.attempt ||
       first.generation != request.generation || first.intent != request.intent ||
       first.payment_method != request.payment_method)) {
    broke(of + ": one key for two requests");
  }
  if (key.starts++ == 0) {
    key.of = of;
    key.started = request;
  }
  ob.may_renew = false;
  ob.key = request.key.value();
  ob.generation = request.generation;
  ob.moves_money = moves_money(request.step);
}

void ObligationModel::sending(const SendSeen& seen, const Truth& /*truth*/) {
  if (is_look_up(seen.request.operation)) return;
  const auto found = keys_.find(seen.request.key.value());
  if (found == keys_.end() || found->second.starts <= found->second.sends) {
    return broke("a send of key " + seen.request.key.value() + " without an event of its own");
  }
  ++found->second.sends;
}

std::uint64_t ObligationModel::memory_hash() const {
  Hash h;
  for (const auto& [key, known] : keys_) {
    h.add(key).add(static_cast<std::uint64_t>(known.starts - known.sends));
  }
  return h.value();
}

void CapIsKept::committed(const CommitSeen& seen, const Truth& truth) {
  if (seen.unit.caps.empty()) return;
  for (const auto& op : seen.unit.caps) {
    periods_.emplace(op.obligation.period.text(), op.obligation.period);
  }
  at_rest(truth);
}

void CapIsKept::at_rest(const Truth& truth) {
  if (truth.journal == nullptr) return;
  std::map<std::string, std::int64_t> charged;
  for (const auto& row : truth.provider.ledger()) {
    const auto begin = row.subject.find('/') + 1;
    charged[row.subject.substr(begin, row.subject.rfind('/') - begin)] += row.amount_minor;
  }
  for (const auto& [text, period] : periods_) {
    const auto uses = truth.journal->cap_use(period);
    if (!uses) return broke(uses.error().context);
    for (const auto& use : *uses) {
      if (!use.limit_minor || !use.customer.value().empty()) continue;
      const std::string limit = ", the limit is " + std::to_string(*use.limit_minor);
      const std::int64_t used = use.reserved_minor + use.settled_minor;
      if (used > *use.limit_minor) broke(text + ": " + std::to_string(used) + " used" + limit);
      if (charged[text] > *use.limit_minor) {
        broke(text + ": " + std::to_string(charged[text]) + " charged" + limit);
      }
    }
  }
}

void RowsMatchEvents::at_rest(const Truth& truth) {
  if (truth.journal == nullptr) return;
  const auto verified = recovery::verify(*truth.journal, nullptr);
  if (!verified) return broke(verified.error().context);
  for (const auto& found : verified->differences) broke(found.where + ": " + found.what);
}

void UnknownIsResolved::at_rest(const Truth& truth) {
  if (truth.provider.forgotten_keys_used() > 0) broke("a key was used after it was forgotten");
  if (truth.journal == nullptr || flow_ != Flow::payment_intents) return;
  for (const auto& id : truth.entities) {
    const auto customer = customer_of(id);
    if (!customer) continue;
    const auto rows = truth.journal->rows_of(*customer);
    if (!rows) return broke(rows.error().context);
    for (const auto& row : *rows) {
      if (row.status == ObligationStatus::parked && row.reason == "outcome_unknown") {
        broke(to_display(row.key) + " is left unknown, though its intent can be read");
      }
    }
  }
}

Oracles billing_oracles(Flow flow, bool one_writer) {
  Oracles all = standard_oracles();
  all.with<ObligationModel>().with<CapIsKept>().with<RowsMatchEvents>();
  all.with<RowsMatchTheLedger>().with<UnknownIsResolved>(flow);
  if (one_writer) {
    all.with<JournalGuardsRest>();
  } else {
    all.with<OneWriter>();
  }
  return all;
}

namespace {

ReplyFacts facts_of(const ObligationRow& row) {
  using Claim = ReplyFacts::Claim;
  ReplyFacts facts;
  facts.subject = to_display(row.key);
  facts.charge = row.charge_id;
  facts.text = facts.subject + " " + std::string(to_text(row.status));
  switch (row.status) {
    case ObligationStatus::completed:
      facts.claim = Claim::charged;
      return facts;
    case ObligationStatus::declined:
    case ObligationStatus::rejected:
    case ObligationStatus::capped:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
    case ObligationStatus::uncollectible:
      facts.claim = Claim::free;
      return facts;
    case ObligationStatus::in_progress:
    case ObligationStatus::processing:
    case ObligationStatus::action_required:
    case ObligationStatus::unknown:
    case ObligationStatus::parked:
      facts.claim = Claim::open;
      return facts;
  }
  check_failed("status", __FILE__, __LINE__, "a status outside its enumerators");
}

}  // namespace

ReplyFacts read_billing_reply(const std::any& reply) {
  const auto* billing = std::any_cast<BillingReply>(&reply);
  ONCEWARD_CHECK(billing != nullptr, "the billing entity replies with BillingReply");
  if (const auto* told = std::get_if<Told>(billing)) return facts_of(told->row);
  ReplyFacts facts;
  if (const auto* down = std::get_if<TurnedDown>(billing)) {
    const bool again = down->why == Turndown::busy || down->why == Turndown::uncertain;
    facts.claim = again ? ReplyFacts::Claim::ask_again : ReplyFacts::Claim::refused;
    facts.text = again ? "turned down, ask again" : "turned down";
    return facts;
  }
  facts.claim = ReplyFacts::Claim::refused;
  facts.text = "refused";
  return facts;
}

}  // namespace onceward::harness

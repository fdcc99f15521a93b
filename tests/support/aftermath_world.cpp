// First the charge, then the commands in their order, then rest.
#include "tests/support/aftermath_world.hpp"

#include <map>

#include <onceward/recovery/verify.hpp>

namespace onceward::testing {

namespace {

constexpr int steps_max = 4'000;

}  // namespace

AftermathWorld::AftermathWorld(const AftermathOptions& options, Odometer& chooser)
    : CustomerPump(options.policy, CustomerId{"cust_1"}),
      options_(options),
      chooser_(chooser),
      key_{CustomerId{"cust_1"}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}},
      now_(*parse_iso("2026-09-01T00:00:00Z")) {
  if (options_.type) type_ = *options_.type;
}

bool AftermathWorld::dies(const char* place) {
  if (crashes_left_ == 0 || chooser_.choose(place, 2) == 0) return false;
  --crashes_left_;
  stop();
  now_ = now_.plus(options_.downtime);
  boottime_ms_ += options_.downtime.count();
  return true;
}

Fate AftermathWorld::fate_of(const ExternalRequest& request) {
  if (faults_left_ == 0 || is_look_up(request.operation)) return Fate::ok;
  const int options = static_cast<int>(options_.fates.size()) + 1;
  const int chosen = chooser_.choose("fault", options);
  if (chosen == 0) return Fate::ok;
  --faults_left_;
  return options_.fates[static_cast<std::size_t>(chosen - 1)];
}

journal::CommitFate AftermathWorld::fate_of_commit() {
  if (ambiguities_left_ == 0) return journal::CommitFate::normal;
  const int fate = chooser_.choose("ambiguous commit", 3);
  if (fate > 0) --ambiguities_left_;
  return static_cast<journal::CommitFate>(fate);
}

void AftermathWorld::told(ReplyTo /*to*/, const billing::BillingReply& reply, bool /*last*/) {
  answered_ = answered_ || !std::holds_alternative<billing::TurnedDown>(reply);
  const auto* refund = std::get_if<billing::RefundTold>(&reply);
  if (refund == nullptr || refund->refund.status != RefundStatus::succeeded) return;
  if (provider_.refunded(refund->row.charge_id) < refund->refund.amount.minor) {
    broken_ = "a reply says refunded although the provider has given nothing back";
  }
}

billing::BillCustomer AftermathWorld::bill() const {
  billing::BillCustomer bill;
  bill.key = key_;
  bill.amount = Money{4990, *Currency::parse("usd")};
  bill.payment_method = PaymentMethod{"pm_1"};
  bill.provider_customer = ProviderCustomer{"cus_1"};
  bill.request_id = RequestId{"req-1"};
  return bill;
}

billing::RefundObligation AftermathWorld::refund(std::size_t number) const {
  billing::RefundObligation refund;
  refund.key = key_;
  refund.amount_minor = options_.refunds[number];
  refund.mark = Mark{"refund", "r" + std::to_string(number), "f", std::nullopt};
  refund.who = "ann";
  refund.why = "test";
  return refund;
}

billing::ProviderHint AftermathWorld::hint(const std::string& event) const {
  billing::ProviderHint hint;
  hint.key = key_;
  hint.mark = Mark{"webhook", event, "f", std::nullopt};
  hint.type = "payment_intent.succeeded";
  hint.object = other_.id;
  hint.intent = other_.id;
  return hint;
}

bool AftermathWorld::turn() {
  if (++steps_ > steps_max) broken_ = "did not come to rest";
  if (!outputs_.empty()) {
    Output next = std::move(outputs_.front());
    outputs_.pop_front();
    perform(std::move(next));
    return true;
  }
  if (inputs_.empty()) return false;
  Input next = std::move(inputs_.front());
  inputs_.pop_front();
  step(std::move(next));
  return true;
}

// The alarm clock of the node, by the row of the obligation alone.
bool AftermathWorld::wake_if_due() {
  const auto found = row(key_);
  if (!found || !found->next_action_at) return false;
  if (now_ < *found->next_action_at) {
    boottime_ms_ += found->next_action_at->ms - now_.ms;
    now_ = *found->next_action_at;
  }
  if (!is_up()) start();
  step(input::Wake{});
  return true;
}

// Whoever asks gets an answer in the end, or asks again.
void AftermathWorld::ask(const billing::BillingCommand& command) {
  answered_ = false;
  bool is_asked = false;
  while (!answered_ && broken_.empty()) {
    if (!is_up()) {
      start();
      is_asked = false;
    } else if (!is_asked) {
      is_asked = true;
      step(input::Command{command, ReplyTo{1}, false});
    } else if (!turn() && !wake_if_due()) {
      is_asked = false;  // turned down, or its answer was lost with a process
    }
  }
}

void AftermathWorld::rest() {
  while (broken_.empty()) {
    if (!is_up()) start();
    if (!turn() && !wake_if_due()) break;
  }
  if (broken_.empty() && permits_out_ != 0) {
    broken_ = "permits leaked: " + std::to_string(permits_out_);
  }
}

void AftermathWorld::run() {
  ask(bill());
  crashes_left_ = options_.crashes;
  faults_left_ = options_.faults;
  ambiguities_left_ = options_.ambiguities;
  if (options_.paid_elsewhere) {
    other_ = provider_.pay_elsewhere({{"onceward_namespace", options_.policy.ns.value()},
                                      {"onceward_customer", "cust_1"},
                                      {"onceward_period", "2026-08"},
                                      {"onceward_purpose", "subscription"}},
                                     4990, now_);
    ask(hint("evt_1"));
    ask(hint("evt_1"));
    if (options_.twin) ask(hint("evt_2"));
  }
  for (std::size_t number = 0; number < options_.refunds.size(); ++number) ask(refund(number));
  rest();
}

std::vector<RefundRow> AftermathWorld::refunds() const {
  auto found = reader()->refunds_of(key_.customer);
  return found ? *found : std::vector<RefundRow>();
}

std::string AftermathWorld::refund_verdict() const {
  std::map<std::string, int> by_number;
  for (const auto& object : provider_.refunds()) {
    if (++by_number[value_of(object.metadata, "onceward_refund")] > 1) return "refunded twice";
  }
  const auto rows = refunds();
  if (rows.size() > options_.refunds.size()) return "more refunds than were asked for";
  std::int64_t wanted = 0;
  for (const std::int64_t amount : options_.refunds) wanted += amount;
  const auto obligation = row(key_);
  if (provider_.refunded(obligation->charge_id) > wanted) return "more given back than was asked";
  for (const auto& row : rows) {
    const bool made = by_number.contains(std::to_string(row.number));
    if (row.status == RefundStatus::succeeded && !made) return "succeeded without a refund";
    if (row.status == RefundStatus::failed && made) return "failed although it was made";
    if (is_open(row.status) && row.status != RefundStatus::parked) {
      return "ended as " + std::string(to_text(row.status));
    }
  }
  return {};
}

// Both webhooks were answered: what they told of must be recorded, once.
std::string AftermathWorld::hint_verdict() const {
  if (!options_.paid_elsewhere) return {};
  const auto obligation = row(key_);
  if (obligation->reason != "duplicate_payment " + other_.charge) {
    return "a webhook was answered and its payment is not recorded: '" + obligation->reason + "'";
  }
  return {};
}

std::string AftermathWorld::verdict() const {
  if (!broken_.empty()) return broken_;
  const auto verified = recovery::verify(*reader(), nullptr);
  if (!verified) return "verify failed: " + verified.error().context;
  if (!verified->differences.empty()) {
    return verified->differences[0].where + ": " + verified->differences[0].what;
  }
  const auto obligation = row(key_);
  if (!obligation || obligation->status != ObligationStatus::completed)
    return "not billed any more";
  if (auto broken = refund_verdict(); !broken.empty()) return broken;
  return hint_verdict();
}

}  // namespace onceward::testing

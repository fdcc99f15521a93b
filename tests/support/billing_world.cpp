// The world's loop. Every durable step, send and answer is a place where the process may die.
#include "tests/support/billing_world.hpp"

#include <utility>

#include <onceward/recovery/verify.hpp>

namespace onceward::testing {

int Odometer::choose(const char* label, int options) {
  if (at_ == digits_.size()) digits_.push_back({label, 0, options});
  ONCEWARD_CHECK(digits_[at_].options == options, "a schedule is replayed without divergence");
  return digits_[at_++].value;
}

bool Odometer::next() {
  digits_.resize(at_);
  at_ = 0;
  while (!digits_.empty() && digits_.back().value + 1 == digits_.back().options) {
    digits_.pop_back();
  }
  if (digits_.empty()) return false;
  ++digits_.back().value;
  return true;
}

std::string Odometer::schedule() const {
  std::string text;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    if (digits_[i].value == 0) continue;
    text += std::string(text.empty() ? "" : " ") + std::to_string(i) + ":" + digits_[i].label +
            "=" + std::to_string(digits_[i].value);
  }
  return text;
}

BillingWorld::BillingWorld(const WorldOptions& options, Odometer& chooser)
    : CustomerPump(options.policy, CustomerId{"cust_1"}),
      options_(options),
      chooser_(chooser),
      key_{CustomerId{"cust_1"}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}},
      now_(*parse_iso("2026-09-01T00:00:00Z")),
      crashes_left_(options.crashes),
      faults_left_(options.faults),
      duplicates_left_(options.duplicates),
      ambiguities_left_(options.ambiguities),
      cancels_left_(options.cancels),
      methods_left_(options.methods) {
  provider_.refused_method = options.refused_method;
  provider_.decline_code = options.decline_code;
}

journal::CommitFate BillingWorld::fate_of_commit() {
  if (ambiguities_left_ == 0) return journal::CommitFate::normal;
  const int fate = chooser_.choose("ambiguous commit", 3);
  if (fate > 0) --ambiguities_left_;
  return static_cast<journal::CommitFate>(fate);
}

bool BillingWorld::dies(const char* place) {
  ++crash_points_;
  if (crashes_left_ == 0 || chooser_.choose(place, 2) == 0) return false;
  --crashes_left_;
  stop();
  now_ = now_.plus(options_.downtime);
  boottime_ms_ += options_.downtime.count();
  return true;
}

Fate BillingWorld::fate_of(const ExternalRequest& request) {
  if (faults_left_ == 0 || is_look_up(request.operation)) return Fate::ok;
  const int options = static_cast<int>(options_.fates.size()) + 1;
  const int chosen = chooser_.choose("fault", options);
  if (chosen == 0) return Fate::ok;
  --faults_left_;
  return options_.fates[static_cast<std::size_t>(chosen - 1)];
}

void BillingWorld::send_command() {
  billing::BillCustomer bill;
  bill.key = key_;
  bill.amount = Money{options_.amount_minor, *Currency::parse("usd")};
  bill.payment_method = PaymentMethod{"pm_1"};
  bill.provider_customer = ProviderCustomer{"cus_1"};
  bill.request_id = RequestId{"req-1"};
  step(input::Command{billing::BillingCommand{bill}, ReplyTo{1}, false});
}

void BillingWorld::told(ReplyTo /*to*/, const billing::BillingReply& reply, bool /*last*/) {
  replies_.push_back(reply);
  const auto* answer = std::get_if<billing::Told>(&reply);
  if (answer == nullptr) return;
  check_told(answer->row);
  const auto stored = row();
  if (stored && answer->row.updated_at > stored->updated_at)
    broken_ = "a reply ran ahead of the store";
}

void BillingWorld::check_told(const ObligationRow& row) {
  const auto& ledger = provider_.ledger();
  if (row.status == ObligationStatus::completed &&
      (ledger.size() != 1 || ledger[0].charge != row.charge_id)) {
    broken_ = "a reply says completed without exactly that charge in the ledger";
  }
  const bool called_off =
      row.status == ObligationStatus::cancelled || row.status == ObligationStatus::uncollectible;
  if (called_off && (!ledger.empty() || provider_.open_intents() > 0)) {
    broken_ = "a reply says " + std::string(to_text(row.status)) + " of what was or can be paid";
  }
}

bool BillingWorld::person_acts() {
  if (cancels_left_ > 0 && chooser_.choose("cancel", 2) == 1) {
    --cancels_left_;
    billing::CancelObligation cancel;
    cancel.key = key_;
    cancel.who = "ann";
    cancel.why = "test";
    cancel.mark = billing::mark_of(cancel, RequestId{"cancel-1"});
    step(input::Command{billing::BillingCommand{cancel}, ReplyTo{2}, false});
    return true;
  }
  if (methods_left_ > 0 && chooser_.choose("method", 2) == 1) {
    --methods_left_;
    billing::SetPaymentMethod method;
    method.customer = key_.customer;
    method.payment_method = PaymentMethod{"pm_2"};
    method.who = "ann";
    method.why = "test";
    method.mark = billing::mark_of(method, RequestId{"method-1"});
    step(input::Command{billing::BillingCommand{method}, ReplyTo{2}, false});
    return true;
  }
  return false;
}

// The alarm clock of the node: takes the row when it is due, also if no caller is left.
bool BillingWorld::wake_if_due() {
  const auto open = row();
  if (!open || !open->next_action_at) return false;
  if (now_ < *open->next_action_at) {
    boottime_ms_ += open->next_action_at->ms - now_.ms;
    now_ = *open->next_action_at;
  }
  if (!is_up()) start();
  step(input::Wake{});
  return true;
}

void BillingWorld::run() {
  constexpr int steps_max = 5'000;
  start();
  send_command();
  for (int steps = 0; steps < steps_max && broken_.empty(); ++steps) {
    if (provider_.ledger().size() > 1) broken_ = "charged twice";
    if (!is_up()) {
      start();
      // The caller of a command without a real answer asks again with the same ids.
      if (replies_.empty() || std::holds_alternative<billing::TurnedDown>(replies_.back())) {
        send_command();
      }
    } else if (!outputs_.empty()) {
      Output next = std::move(outputs_.front());
      outputs_.pop_front();
      perform(std::move(next));
    } else if (person_acts()) {
      continue;
    } else if (!inputs_.empty()) {
      Input next = std::move(inputs_.front());
      inputs_.pop_front();
      step(std::move(next));
    } else if (duplicates_left_ > 0 && chooser_.choose("duplicate", 2) == 1) {
      --duplicates_left_;
      send_command();
    } else if (!wake_if_due()) {
      if (permits_out_ != 0) broken_ = "permits leaked: " + std::to_string(permits_out_);
      return;
    }
  }
  if (broken_.empty()) broken_ = "did not come to rest";
}

std::string BillingWorld::verdict() const {
  if (!broken_.empty()) return broken_;
  const auto verified = recovery::verify(*reader(), nullptr);
  if (!verified) return "verify failed: " + verified.error().context;
  if (!verified->differences.empty()) {
    return verified->differences[0].where + ": " + verified->differences[0].what;
  }
  if (provider_.ledger().size() > 1) return "charged twice";
  const auto end = row();
  if (!end) return "never recorded";
  const bool charged = provider_.ledger().size() == 1;
  if (end->status == ObligationStatus::completed) {
    if (!charged) return "completed without a charge";
    return provider_.ledger()[0].charge == end->charge_id ? "" : "completed with another charge";
  }
  const bool called_off =
      end->status == ObligationStatus::cancelled || end->status == ObligationStatus::uncollectible;
  if (called_off && provider_.open_intents() > 0) return "closed beside a payable intent";
  if (called_off && !charged) return {};
  if (is_operator_owned(end->status)) return {};  // visible, with its reason
  return "ended as " + std::string(to_text(end->status)) + (charged ? ", charged" : ", unbilled");
}

}  // namespace onceward::testing

// What the random world expects while it runs and at its end.
#include <string>

#include <onceward/recovery/verify.hpp>

#include "tests/support/random_world.hpp"

namespace onceward::testing {

using billing::Flow;

namespace {

// Closed on an operator's word about what no read could tell: the world's clocks may have lied.
bool is_vouched_for(const ObligationRow& row) {
  return row.status == ObligationStatus::cancelled && row.reason.rfind("written_off", 0) == 0;
}

}  // namespace

void RandomWorld::check_told(const billing::Told& told) {
  const auto charges = charges_of(told.row.key);
  const auto stored = row(told.row.key);
  if (!journal_.barrier_pending() && (!stored || told.row.updated_at > stored->updated_at)) {
    broke("a reply ran ahead of the store");
  }
  note(std::string("told ") + std::string(to_text(told.row.status)));
  switch (told.row.status) {
    case ObligationStatus::completed:
      if (charges.size() != 1 || charges[0].charge != told.row.charge_id) {
        broke("completed was told without exactly that charge");
      }
      return;
    case ObligationStatus::declined:
    case ObligationStatus::rejected:
    case ObligationStatus::capped:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
    case ObligationStatus::uncollectible:
      if (is_vouched_for(told.row)) return;
      if (!charges.empty()) broke("told as not charged, but it is: " + to_display(told.row.key));
      return;
    case ObligationStatus::in_progress:
    case ObligationStatus::processing:
    case ObligationStatus::action_required:
    case ObligationStatus::unknown:
    case ObligationStatus::parked:
      return;  // these say that money may move or may have moved
  }
}

void RandomWorld::check_caps() {
  for (const char* text : periods) {
    const auto uses = reader()->cap_use(*BillingPeriod::parse(text));
    if (!uses) continue;
    for (const auto& use : *uses) {
      const bool passed =
          use.limit_minor && use.reserved_minor + use.settled_minor > *use.limit_minor;
      if (passed && !judge_.has_alarm()) broke("the spend cap was passed without an alarm");
    }
  }
}

std::vector<FakeProvider::LedgerRow> RandomWorld::charges_of(const ObligationKey& key) const {
  std::vector<FakeProvider::LedgerRow> found;
  for (const auto& charge : provider_.ledger()) {
    if (charge.period == key.period.text() && charge.purpose == key.purpose.value()) {
      found.push_back(charge);
    }
  }
  return found;
}

void RandomWorld::check_end() {
  if (permits_out_ != 0) broke("permits leaked: " + std::to_string(permits_out_));
  if (!open_.empty()) broke("a command was never answered");
  if (provider_.expired_keys_used() > 0) broke("a key was used after the provider forgot it");
  const auto verified = recovery::verify(*reader(), nullptr);
  if (!verified) return broke("verify failed: " + verified.error().context);
  for (const auto& found : verified->differences) broke(found.where + ": " + found.what);
  for (const auto& row : rows()) {
    const auto charges = charges_of(row.key);
    const std::string where = to_display(row.key) + " is " + std::string(to_text(row.status));
    for (const auto& charge : charges) {
      if (charge.amount_minor != row.amount.minor)
        broke(where + " with a charge of another amount");
    }
    if (row.status == ObligationStatus::completed) {
      if (charges.size() != 1 || charges[0].charge != row.charge_id) broke(where + " without it");
      continue;
    }
    if (row.status == ObligationStatus::parked) {
      // With two steps every unknown is settled by reading its intent, at any age.
      const bool unresolved = row.reason == "outcome_unknown";
      if (policy_.flow == Flow::payment_intents && unresolved) broke(where + ": " + row.reason);
      if (!unresolved && !charges.empty()) broke(where + ": " + row.reason + ", charged");
      continue;
    }
    if (!charges.empty() && !is_vouched_for(row)) broke(where + ", charged");
    const bool rests = !is_open(row.status) || is_operator_owned(row.status) ||
                       (row.status == ObligationStatus::declined && row.next_action_at);
    if (!rests) broke(where + " at rest");
  }
}

std::map<ObligationStatus, int> RandomWorld::statuses() const {
  std::map<ObligationStatus, int> counts;
  for (const auto& row : rows()) ++counts[row.status];
  return counts;
}

}  // namespace onceward::testing

// One row per reason that an event can leave; docs/outcomes.md explains them.
#include <onceward/billing/attention.hpp>

#include <algorithm>
#include <array>

namespace onceward::billing {

namespace {

// `reason` is the beginning of the row's; empty matches any. First match wins.
struct AdviceRow {
  ObligationStatus status;
  std::string_view reason;
  Advice advice;
};

constexpr std::array advice_rows = {
    AdviceRow{ObligationStatus::parked,
              "outcome_unknown",
              {"A charge may or may not have been made, and no read can tell.",
               "Look for it at the provider: resolve as paid_by_charge with its id; if it is not "
               "there, as written_off, or as not_charged where rebill_after_unknown is ask."}},
    AdviceRow{ObligationStatus::parked,
              "mismatch",
              {"The provider shows an object of this obligation with another amount, currency or "
               "customer.",
               "Compare it at the provider; refund there what is wrong, then resolve."}},
    AdviceRow{ObligationStatus::parked,
              "intent_not_found",
              {"The provider does not know the intent that it had created.",
               "Check account and mode of the key; retry once they are right, else resolve."}},
    AdviceRow{ObligationStatus::parked,
              "a_second_intent_exists",
              {"The provider shows two payable intents of this obligation.",
               "Cancel the one that the timeline does not name, then retry."}},
    AdviceRow{ObligationStatus::parked,
              "intent_",
              {"The intent is in a state that is never asked for.",
               "Settle it at the provider (capture or cancel), then retry."}},
    AdviceRow{ObligationStatus::parked,
              "possible_earlier_charge",
              {"An older system may have charged this period.",
               "Resolve as paid_by_charge with that charge; if it is another one's, label it at "
               "the provider and retry."}},
    AdviceRow{ObligationStatus::parked,
              "",
              {"No automatic step is safe.", "Read the timeline, then retry or resolve."}},
    AdviceRow{ObligationStatus::rejected,
              "unauthorized",
              {"The provider refuses the credentials.", "Mend the key, then retry."}},
    AdviceRow{ObligationStatus::rejected,
              "",
              {"The provider refused the request as wrong; nothing was charged.",
               "Mend what the reason names (a payment method is set with payment-method), then "
               "retry; or resolve as written_off."}},
    AdviceRow{ObligationStatus::capped,
              "",
              {"The spend cap refused it; nothing was sent.",
               "Raise the cap and retry, or resolve as written_off."}},
    AdviceRow{
        ObligationStatus::uncollectible,
        "card_refused_for_good",
        {"The card was refused for good.", "Bill by another road; record a payment with resolve."}},
    AdviceRow{
        ObligationStatus::uncollectible,
        "",
        {"Every planned try was refused.", "Bill by another road; record a payment with resolve."}},
    AdviceRow{ObligationStatus::action_required,
              "",
              {"The customer has to confirm the payment.",
               "Ask the customer; it is read every hour and ends by itself. cancel calls it off."}},
    AdviceRow{ObligationStatus::processing,
              "",
              {"The provider is still working on it.",
               "Wait; it is read every hour and ends by itself."}},
    AdviceRow{ObligationStatus::declined,
              "payment_method_needed",
              {"The card cannot be charged again.",
               "Ask the customer for another one and set it with payment-method."}},
    AdviceRow{ObligationStatus::declined,
              "unlisted_decline_code",
              {"The decline code is not known to this release.",
               "It is tried again as a general refusal; cancel if the code forbids that."}},
    AdviceRow{
        ObligationStatus::completed,
        "duplicate_payment",
        {"Money was taken twice.", "Give the charge named in the reason back at the provider."}},
    AdviceRow{ObligationStatus::completed,
              "several_charges_found",
              {"Money was taken more than once.",
               "Give every charge but the recorded one back at the provider."}},
    AdviceRow{ObligationStatus::completed,
              "charged_before_it_was_called_off",
              {"It was paid before it could be called off.", "Refund it."}},
    AdviceRow{ObligationStatus::completed,
              "money_taken_late",
              {"It was paid after callers had been told otherwise.",
               "Tell them; refund it if it is not wanted."}},
};

}  // namespace

std::optional<Advice> advice_for(const ObligationRow& row) {
  const auto found = std::find_if(advice_rows.begin(), advice_rows.end(), [&](const auto& r) {
    return r.status == row.status && row.reason.rfind(r.reason, 0) == 0;
  });
  if (found == advice_rows.end()) return std::nullopt;
  return found->advice;
}

}  // namespace onceward::billing

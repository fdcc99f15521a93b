// What to do next about each item, in words that name the command line's verbs.
#include "ingress/attention/attention_item.hpp"

namespace onceward::ingress {

namespace {

std::string declined_step(const ObligationRow& row) {
  const std::string& customer = row.key.customer.value();
  const std::string payment_method = "`onceward payment-method " + customer + " PM --reason ...`";
  const std::string cancel =
      "`onceward cancel " + customer + " " + row.key.period.text() +
      (row.key.purpose.value() == "subscription" ? std::string()
                                                 : " --purpose " + row.key.purpose.value()) +
      " --reason ...`";
  if (row.reason.starts_with("payment_method_needed")) {
    return "No other try is made with this card (" + row.decline_code +
           "). Ask the payer for another one, then " + payment_method + "; or " + cancel + ".";
  }
  return "Look up what the decline code " + row.decline_code +
         " means. It is tried again by itself; if the code forbids that: " + payment_method +
         ", or " + cancel + ".";
}

std::string obligation_step(const ObligationRow& row, const std::string& id) {
  const std::string retry = "`onceward attention retry " + id + " --reason ...`";
  const std::string resolve = "`onceward attention resolve " + id + " --reason ...`";
  switch (row.status) {
    case ObligationStatus::parked:
      return "Look at the customer's payments at the provider. " + retry +
             " makes the node look there again and sends nothing blindly. If the provider shows a "
             "charge: " +
             resolve +
             " --as paid_by_charge --reference ch_...; if nothing is to be charged any "
             "more: --as written_off.";
    case ObligationStatus::rejected:
      return "The provider calls the request wrong: correct what the reason names (payment method, "
             "customer at the provider, account), then " +
             retry + "; or " + resolve + " --as written_off.";
    case ObligationStatus::capped:
      return "Raise the spend cap of the period, then " + retry + "; or " + resolve +
             " --as written_off.";
    case ObligationStatus::uncollectible:
      return "All tries were refused by the payer's side. Ask the payer; if it was paid "
             "elsewhere: " +
             resolve + " --as paid_outside --reference ...; otherwise --as written_off.";
    case ObligationStatus::action_required:
      return "Ask the payer to confirm the payment, or set another method with `onceward "
             "payment-method`; to call it off: `onceward cancel`.";
    case ObligationStatus::processing:
      return "Bank payments take days. " + retry + " asks the provider for the present state.";
    case ObligationStatus::in_progress:
    case ObligationStatus::unknown:
      return "The node goes on looking and sends nothing that could charge twice. See whether the "
             "provider can be reached (`/readyz?verbose`); " +
             retry + " looks at once. If the provider shows a charge: " + resolve +
             " --as paid_by_charge --reference ch_...";
    case ObligationStatus::declined:
      return declined_step(row);
    case ObligationStatus::completed:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
      return "Nothing: it is over.";
  }
  return "";
}

}  // namespace

std::string next_step(const AttentionItem& item) {
  const std::string id = to_text(item.id);
  switch (item.id.kind) {
    case AttentionKind::obligation:
      return obligation_step(*item.obligation, id);
    case AttentionKind::alarm:
      return "The period was billed; compare with the provider what the reason says (a double "
             "payment is given back with `onceward refund`, or there), then `onceward attention "
             "resolve " +
             id + " --reason ...`.";
    case AttentionKind::refund:
      return "Look at the charge's refunds at the provider. `onceward attention retry " + id +
             " --reason ...` makes the node look there again; if you know the outcome: `resolve " +
             id + " --as given --reference re_...` or `--as not_given`.";
    case AttentionKind::quarantine:
      return "What is stored for this entity breaks a rule, or it failed again and again; nothing "
             "of "
             "it is run. Run `onceward journal verify -c FILE` and compare with the provider; if "
             "it "
             "is sound or repaired: `onceward attention resolve " +
             id + " --reason ...`, which checks its history and then runs it again.";
    case AttentionKind::inbox:
      return "Look at the object at the provider. If other software made it, or it has been dealt "
             "with: `onceward attention resolve " +
             id + " --reason ...`.";
  }
  return "";
}

}  // namespace onceward::ingress

// The last steps of an obligation that is not to be charged (any more).
#include "billing/closing.hpp"

#include <utility>

#include "billing/outcomes.hpp"
#include "billing/requests.hpp"

namespace onceward::billing {

namespace {

void close_as_paid(Draft& draft, const std::string& charge_id) {
  const ObligationState& ob = draft.obligation();
  const std::uint32_t attempt = ob.request ? ob.request->attempt : ob.attempt;
  BillingCompleted done;
  done.of = draft.of();
  done.at = draft.now();
  done.charge_id = charge_id;
  done.attempt = attempt;
  draft.add(std::move(done));
  draft.cap(CapOp::Kind::settle, attempt);
}

void finish(Draft& draft) {
  const Closing closing = *draft.obligation().closing;
  const std::uint32_t attempt = draft.obligation().attempt;
  if (closing.as == Closing::As::paid_by_charge) return close_as_paid(draft, closing.reference);
  // Money of an unresolved request stays reserved: an operator's word is no proof for the cap.
  const bool releases = !may_have_taken_money(draft.obligation());
  switch (closing.as) {
    case Closing::As::cancelled:
      draft.add(BillingCancelled{draft.of(), draft.now(), closing.reason});
      break;
    case Closing::As::uncollectible:
      draft.add(BillingUncollectible{draft.of(), draft.now(), closing.reason});
      break;
    case Closing::As::waived:
      draft.add(PeriodWaived{draft.of(), draft.now(), closing.reason});
      break;
    case Closing::As::paid_outside:
    case Closing::As::paid_by_charge:
      draft.add(BillingPaidOutside{draft.of(), draft.now(), closing.reference});
      break;
  }
  if (releases) draft.cap(CapOp::Kind::release, attempt);
}

}  // namespace

void close_up(Draft& draft) {
  const ObligationState& ob = draft.obligation();
  if (!ob.closing || !is_open(ob.status)) return;
  if (ob.intent.empty()) return finish(draft);
  // Each cancel that was answered has a key that would only bring the same answer.
  const bool again = ob.request && ob.request->step == Step::cancel;
  start_request(draft, Step::cancel, ob.generation + (again ? 1 : 0));
}

void record_payment(Draft& draft, Resolution resolution, const std::string& reference) {
  if (resolution == Resolution::paid_by_charge) return close_as_paid(draft, reference);
  draft.add(BillingPaidOutside{draft.of(), draft.now(), reference});
}

void park(Draft& draft, std::string reason) {
  const ObligationState& ob = draft.obligation();
  if (!is_open(ob.status)) return;
  if (ob.closing && ob.closing->by_verdict) return finish(draft);
  draft.add(BillingParked{draft.of(), draft.now(), std::move(reason)});
}

}  // namespace onceward::billing

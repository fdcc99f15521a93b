// Replies to commands as HTTP answers, one function for each kind of reply.
#include "ingress/http/command_exchange.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

platform::HttpResponse problem(ProblemKind kind, std::string detail) {
  Problem made;
  made.kind = kind;
  made.detail = std::move(detail);
  return problem_answer(std::move(made));
}

platform::HttpResponse row_problem(ProblemKind kind, std::string detail, const ObligationRow& row) {
  Problem made;
  made.kind = kind;
  made.detail = std::move(detail);
  made.charge_state = status_row(row.status).charge_state;
  made.members = obligation_json({.row = row});
  return problem_answer(std::move(made));
}

/// 200 for what is over, 202 with the place to look for what goes on.
platform::HttpResponse state_answer(bool is_over, const json::object& body,
                                    const std::string& location, bool replayed) {
  auto response = json_answer(is_over ? 200 : 202, body);
  if (!is_over) {
    add_header(response, "Location", location);
    add_header(response, "Retry-After", "5");
  }
  if (replayed) add_header(response, "Idempotent-Replayed", "true");
  return response;
}

struct AnswerOf {
  const std::string& location;

  platform::HttpResponse operator()(const billing::Told& told) const {
    return state_answer(!is_open(told.row.status), obligation_json({.row = told.row}), location,
                        told.replayed);
  }
  platform::HttpResponse operator()(const billing::PaymentMethodSet& set) const {
    json::array obligations;
    for (const auto& row : set.obligations) obligations.push_back(obligation_json({.row = row}));
    return state_answer(true, json::object{{"obligations", std::move(obligations)}}, location,
                        set.replayed);
  }
  platform::HttpResponse operator()(const billing::RefundTold& told) const {
    if (told.refund.status == RefundStatus::failed) return refund_failed(told);
    return state_answer(!is_open(told.refund.status), refund_json(told.refund), location,
                        told.replayed);
  }
  platform::HttpResponse operator()(const billing::RefundRefused& refused) const {
    if (refused.kind == billing::RefundRefused::Kind::not_charged) {
      return row_problem(ProblemKind::not_possible,
                         to_display(refused.row.key) + " is " +
                             std::string(to_text(refused.row.status)) +
                             ": only what was charged can be given back",
                         refused.row);
    }
    const Money left{refused.refundable_minor, refused.row.amount.currency};
    Problem made;
    made.kind = ProblemKind::refund_exceeds;
    made.detail = "of " + to_display(refused.row.key) + " " + to_display(left) +
                  " are left to give back (refunds whose outcome is not known count as given)";
    made.charge_state = ChargeState::charged;
    made.members = obligation_json({.row = refused.row});
    made.members["refundable_minor"] = refused.refundable_minor;
    return problem_answer(std::move(made));
  }
  platform::HttpResponse operator()(const billing::NotPossible& impossible) const {
    return row_problem(ProblemKind::not_possible, impossible.detail, impossible.row);
  }
  platform::HttpResponse operator()(const billing::NoSuchObligation&) const {
    return problem(ProblemKind::not_found, "there is no such obligation; nothing was recorded");
  }
  platform::HttpResponse operator()(const billing::CallerKeyReused&) const {
    return problem(ProblemKind::key_reused,
                   "this request id was used for something else; use a new one, or repeat what "
                   "was asked for first");
  }
  platform::HttpResponse operator()(const billing::Refused& refused) const {
    return problem(ProblemKind::bad_request, refused.detail);
  }
  platform::HttpResponse operator()(const billing::Conflict& conflict) const {
    return problem(ProblemKind::obligation_conflict, conflict.detail);
  }
  platform::HttpResponse operator()(const billing::HintTaken&) const {
    return problem(ProblemKind::internal, "the node answered another question than was asked");
  }
  platform::HttpResponse operator()(const billing::TurnedDown& turned_down) const {
    return turned_down_answer(turned_down.why);
  }

 private:
  static platform::HttpResponse refund_failed(const billing::RefundTold& told) {
    Problem made;
    made.kind = ProblemKind::refund_failed;
    made.detail = to_display(told.refund.amount) + " of " + to_display(told.refund.obligation) +
                  " were not given back" +
                  (told.refund.reason.empty() ? "" : ": " + told.refund.reason) +
                  "; to try again, ask under a new request id";
    made.charge_state = ChargeState::charged;
    made.members = refund_json(told.refund);
    auto response = problem_answer(std::move(made));
    if (told.replayed) add_header(response, "Idempotent-Replayed", "true");
    return response;
  }
};

}  // namespace

platform::HttpResponse turned_down_answer(Turndown why) {
  Problem made;
  made.charge_state = ChargeState::unknown;
  switch (why) {
    case Turndown::busy:
      made.kind = ProblemKind::busy;
      made.detail = "the node has too much to do, or is stopping; repeat it with the same key";
      made.retry_after_s = 1;
      break;
    case Turndown::uncertain:
      made.kind = ProblemKind::store_uncertain;
      made.detail =
          "the store did not say whether it recorded the request; repeat it with the "
          "same key";
      made.retry_after_s = 1;
      break;
    case Turndown::quarantined:
      made.kind = ProblemKind::entity_quarantined;
      made.detail =
          "the customer's history must be looked at by an operator first; see "
          "`onceward attention list`";
      break;
    case Turndown::invalid:
      made.kind = ProblemKind::bad_request;
      made.detail = "the request is too large to be recorded";
      made.charge_state = ChargeState::none;
      break;
  }
  return problem_answer(std::move(made));
}

platform::HttpResponse command_answer(const billing::BillingReply& reply,
                                      const std::string& location) {
  return std::visit(AnswerOf{location}, reply);
}

}  // namespace onceward::ingress

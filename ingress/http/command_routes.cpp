// Routes of commands about what is billed already: refund, cancel, another payment method. Each is
// named by the caller's Idempotency-Key: the same key again never acts twice.
#include "ingress/http/bill_request.hpp"
#include "ingress/http/command_exchange.hpp"
#include "ingress/http/header_values.hpp"
#include "ingress/http/json_text.hpp"
#include "ingress/http/obligation_key.hpp"
#include "ingress/http/reason.hpp"
#include "ingress/http/routes.hpp"

namespace onceward::ingress {

namespace {

/// What all three of them take.
struct CommandRequest {
  RequestId request_id;
  Wait wait;
  boost::json::object body;
};

Result<CommandRequest> parse_command(const Call& call) {
  auto key = parse_idempotency_key(call.request.headers);
  if (!key) return Unexpected{std::move(key).error()};
  CommandRequest request{RequestId{std::move(*key)}, parse_prefer_wait(call.request.headers), {}};
  if (call.request.body.empty()) return request;
  auto body = parse_json_object(call.request.body);
  if (!body) return Unexpected{std::move(body).error()};
  request.body = std::move(*body);
  return request;
}

/// Which obligation, for the two commands whose path names one.
struct ObligationRequest {
  ObligationKey key;
  CommandRequest command;
};

Result<ObligationRequest> parse_obligation_command(const Call& call) {
  auto query = Query::parse(call.request.query, {"purpose"});
  if (!query) return Unexpected{std::move(query).error()};
  auto key = parse_obligation_key(call, *query);
  if (!key) return Unexpected{std::move(key).error()};
  auto command = parse_command(call);
  if (!command) return Unexpected{std::move(command).error()};
  return ObligationRequest{std::move(*key), std::move(*command)};
}

Result<billing::RefundObligation> parse_refund(const ObligationRequest& request,
                                               const std::string& principal) {
  JsonMembers members(request.command.body);
  billing::RefundObligation refund;
  refund.key = request.key;
  refund.who = principal;
  refund.amount_minor = members.optional_integer("amount_minor");
  refund.why = optional_reason(members);
  if (refund.amount_minor && *refund.amount_minor <= 0) {
    members.refuse("amount_minor must be at least 1; leave it out to give back all that is left");
  }
  if (auto finished = members.finish(); !finished) return Unexpected{finished.error()};
  refund.mark = billing::mark_of(refund, request.command.request_id);
  return refund;
}

Result<billing::CancelObligation> parse_cancel(const ObligationRequest& request,
                                               const std::string& principal) {
  JsonMembers members(request.command.body);
  billing::CancelObligation cancel;
  cancel.key = request.key;
  cancel.who = principal;
  cancel.why = optional_reason(members);
  if (auto finished = members.finish(); !finished) return Unexpected{finished.error()};
  cancel.mark = billing::mark_of(cancel, request.command.request_id);
  return cancel;
}

Result<billing::SetPaymentMethod> parse_payment_method_command(const Call& call,
                                                               const CommandRequest& request) {
  auto customer = parse_customer_id(call.segments[2]);
  if (!customer) return Unexpected{std::move(customer).error()};
  JsonMembers members(request.body);
  billing::SetPaymentMethod set;
  const auto method = members.required_text("payment_method");
  set.why = optional_reason(members);
  if (auto finished = members.finish(); !finished) return Unexpected{finished.error()};
  auto parsed = parse_payment_method(method);
  if (!parsed) {
    return fail(ErrorCode::invalid_argument, "payment_method: " + parsed.error().context);
  }
  set.customer = std::move(*customer);
  set.payment_method = std::move(*parsed);
  set.who = call.principal;
  set.mark = billing::mark_of(set, request.request_id);
  return set;
}

/// Told when durable, then when settled.
template <class Command>
CommandCall told_twice(Command command, std::int64_t wait_s) {
  CommandCall call;
  call.customer = command.key.customer;
  call.location = obligation_path(command.key);
  call.wait_s = wait_s;
  command.notify = billing::Notify::accepted;
  call.accepted = command;
  command.notify = billing::Notify::settled;
  call.settled = std::move(command);
  return call;
}

template <class Parse>
void run_obligation_command(Services& services, Call call, Parse parse) {
  if (call.request.body.size() > json_bytes_max) return call.answer(too_large());
  auto request = parse_obligation_command(call);
  if (!request) return call.answer(bad_request(request.error()));
  auto command = parse(*request, call.principal);
  if (!command) return call.answer(bad_request(command.error()));
  run_command(services, told_twice(std::move(*command), request->command.wait.seconds),
              std::move(call.answer));
}

}  // namespace

void post_refund(Services& services, Call call) {
  run_obligation_command(services, std::move(call), parse_refund);
}

void post_cancel(Services& services, Call call) {
  run_obligation_command(services, std::move(call), parse_cancel);
}

void post_payment_method(Services& services, Call call) {
  if (call.request.body.size() > json_bytes_max) return call.answer(too_large());
  auto query = Query::parse(call.request.query, {});
  if (!query) return call.answer(bad_request(query.error()));
  auto request = parse_command(call);
  if (!request) return call.answer(bad_request(request.error()));
  auto command = parse_payment_method_command(call, *request);
  if (!command) return call.answer(bad_request(command.error()));
  if (services.mode == Mode::live && is_test_method(command->payment_method)) {
    return call.answer(bad_request(test_method_refused()));
  }
  CommandCall run;
  run.customer = command->customer;
  run.accepted = std::move(*command);
  run_command(services, std::move(run), std::move(call.answer));
}

}  // namespace onceward::ingress

// refund, cancel, payment-method: what is asked for after something was billed, through a node.
#include <cstdio>

#include "app/config/value_codec.hpp"
#include "app/verbs/client_verbs.hpp"
#include "app/verbs/node_verbs.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;

std::string obligation_path(const CommandOptions& options, const std::string& command) {
  std::string path = "/v1/billing/" + url_part(options.customer) + "/" + url_part(options.period);
  if (!command.empty()) path += "/" + command;
  if (!options.purpose.empty()) path += "?purpose=" + url_part(options.purpose);
  return path;
}

std::string obligation_text(const CommandOptions& options) {
  return options.customer + " " + options.period +
         (options.purpose.empty() ? "" : " (" + options.purpose + ")");
}

/// What is at stake, for the question before it: the obligation's amount.
Result<NodeAnswer> look(NodeClient& client, const CommandOptions& options) {
  return client.ask({.path = obligation_path(options, "")});
}

Result<NodeAnswer> post(NodeClient& client, const CommandOptions& options, const std::string& path,
                        json::object body) {
  const auto wait = parse_duration(options.wait);
  if (!wait) {
    return fail(ErrorCode::invalid_argument,
                "--wait must be a whole number with one unit, e.g. 30s or 2m");
  }
  if (!options.reason.empty()) body["reason"] = options.reason;
  NodeRequest request{.path = path, .body = json::serialize(body)};
  return post_repeatedly(client, request,
                         {.request_id = options.request_id,
                          .wait = std::chrono::duration_cast<std::chrono::seconds>(*wait)});
}

CommandOptions named(const CommandOptions& options) {
  CommandOptions named = options;
  if (named.request_id.empty()) {
    named.request_id = new_request_id();
    std::fprintf(stderr, "request id %s\n", named.request_id.c_str());
  }
  return named;
}

ExitCode tell_lost(const Error& error, const CommandOptions& options) {
  const auto code = report(error);
  if (code == ExitCode::unknown) {
    std::fprintf(stderr, "whether it was recorded is not known; ask again with --request-id %s\n",
                 options.request_id.c_str());
  }
  return code;
}

void print_json(const NodeAnswer& answer) {
  std::printf("%s\n", json::serialize(answer.body).c_str());
}

ExitCode exit_of_refund(const NodeAnswer& answer) {
  const auto status = parse_refund_status(answer.text_at("status"));
  if (!status) return ExitCode::failed;
  return ingress::refund_exit(*status);
}

/// How far a cancellation is, by the status of its obligation.
ExitCode exit_of_cancel(ObligationStatus status) {
  if (status == ObligationStatus::cancelled) return ExitCode::ok;
  const auto exit = ingress::status_row(status).bill_exit;
  return is_open(status) && exit != ExitCode::unknown ? ExitCode::conflict : exit;
}

}  // namespace

ExitCode refund(const Source& source, const CommandOptions& given) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  // A named request may be repeated without a second effect; one without a name is a new wish.
  if (!given.is_confirmed && (is_asked_interactively() || given.request_id.empty())) {
    auto obligation = look(*client, given);
    if (!obligation) return report(obligation.error());
    if (!obligation->is_success() || !obligation->body.is_object()) {
      return tell_problem(source, *obligation);
    }
    json::object part = obligation->body.as_object();
    if (given.amount_minor) part["amount_minor"] = *given.amount_minor;
    const std::string what = given.amount_minor ? money_text(part) : "all that is left";
    const std::string question = "Give " + what + " of " + obligation_text(given) + " (billed " +
                                 money_text(obligation->body.as_object()) + ") back?";
    if (const auto stop = insist(question, false)) return *stop;
  }
  const auto options = named(given);
  json::object body;
  if (options.amount_minor) body["amount_minor"] = *options.amount_minor;
  auto answer = post(*client, options, obligation_path(options, "refunds"), std::move(body));
  if (!answer) return tell_lost(answer.error(), options);
  if (!answer->is_success() || !answer->body.is_object()) return tell_problem(source, *answer);
  if (source.json) {
    print_json(*answer);
  } else {
    std::printf("%-12s %s  %s  refund %s  %s\n", answer->text_at("status").c_str(),
                obligation_text(options).c_str(), money_text(answer->body.as_object()).c_str(),
                answer->text_at("number").c_str(), answer->text_at("refund_id").c_str());
  }
  const auto exit = exit_of_refund(*answer);
  if (exit != ExitCode::ok) {
    std::fprintf(stderr,
                 "not finished yet; the node goes on with it. To look again:\n"
                 "  onceward customers show %s --period %s\n",
                 options.customer.c_str(), options.period.c_str());
  }
  return exit;
}

ExitCode cancel(const Source& source, const CommandOptions& given) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  // A named request may be repeated without a second effect; one without a name is a new wish.
  if (!given.is_confirmed && (is_asked_interactively() || given.request_id.empty())) {
    if (const auto stop = insist("Call " + obligation_text(given) + " off?", false)) return *stop;
  }
  const auto options = named(given);
  auto answer = post(*client, options, obligation_path(options, "cancel"), {});
  if (!answer) return tell_lost(answer.error(), options);
  const auto status = parse_obligation_status(answer->text_at("status"));
  if (!answer->is_success() || !status) return tell_problem(source, *answer);
  if (source.json) {
    print_json(*answer);
  } else {
    std::printf("%-12s %s\n", answer->text_at("status").c_str(), obligation_text(options).c_str());
  }
  if (is_open(*status)) {
    std::fputs(
        "the wish is recorded; it is carried out as soon as no request that moves money is "
        "open\n",
        stderr);
  }
  return exit_of_cancel(*status);
}

ExitCode payment_method(const Source& source, const CommandOptions& given) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  const auto options = named(given);
  auto answer =
      post(*client, options, "/v1/customers/" + url_part(options.customer) + "/payment-method",
           {{"payment_method", options.payment_method}});
  if (!answer) return tell_lost(answer.error(), options);
  if (!answer->is_success() || !answer->body.is_object()) return tell_problem(source, *answer);
  if (source.json) {
    print_json(*answer);
    return ExitCode::ok;
  }
  const auto* list = answer->body.as_object().if_contains("obligations");
  if (list == nullptr || !list->is_array() || list->as_array().empty()) {
    std::fputs("nothing is open for this customer; new requests bring their own method\n", stderr);
    return ExitCode::ok;
  }
  for (const auto& element : list->as_array()) {
    const NodeAnswer row{.status = 200, .text = "", .body = element};
    std::printf("%-10s %-14s %-15s next try %s\n", row.text_at("period").c_str(),
                row.text_at("purpose").c_str(), row.text_at("status").c_str(),
                row.text_at("next_attempt_at").c_str());
  }
  return ExitCode::ok;
}

}  // namespace onceward::app

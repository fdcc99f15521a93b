// bill: one obligation, through a running node or through one of its own on a store.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "app/config/config_load.hpp"
#include "app/config/value_codec.hpp"
#include "app/node.hpp"
#include "app/verbs/client_verbs.hpp"
#include "app/verbs/node_verbs.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr seconds wait_per_request_max{60};
constexpr seconds answer_margin{20};
/// The provider's test token for a card that pays; a live node refuses it.
constexpr const char* test_payment_method = "pm_card_visa";

json::object body_of(const BillOptions& options) {
  json::object body{{"customer", options.customer},
                    {"period", options.period},
                    {"amount_minor", options.amount_minor},
                    {"currency", options.currency},
                    {"payment_method", options.payment_method}};
  if (!options.purpose.empty()) body["purpose"] = options.purpose;
  if (!options.provider_customer.empty()) body["provider_customer"] = options.provider_customer;
  return body;
}

std::string obligation_path(const BillOptions& options, seconds wait) {
  std::string path = "/v1/billing/" + url_part(options.customer) + "/" + url_part(options.period) +
                     "?wait=" + std::to_string(wait.count());
  if (!options.purpose.empty()) path += "&purpose=" + url_part(options.purpose);
  return path;
}

/// Asks until there is an answer that more waiting cannot better, or the time is over.
class Billing {
 public:
  Billing(NodeClient& client, const BillOptions& options, seconds wait)
      : client_(client), options_(options), until_(Clock::now() + wait) {}

  Result<NodeAnswer> run() {
    auto answer = post();
    while (is_worth_repeating(answer) && left() > seconds{0}) {
      std::this_thread::sleep_for(seconds{1});
      answer = post();
    }
    while (answer && answer->status == 202 && left() > seconds{0}) {
      auto state = look();
      if (!state || !state->is_success()) break;
      const auto status = parse_obligation_status(state->text_at("status"));
      if (!status) break;
      const auto& meaning = ingress::status_row(*status);
      state->status = meaning.post_status;
      answer = std::move(state);
      if (meaning.settled == ingress::Settled::yes) break;
    }
    return answer;
  }

 private:
  [[nodiscard]] seconds left() const {
    return std::clamp(std::chrono::duration_cast<seconds>(until_ - Clock::now()), seconds{0},
                      wait_per_request_max);
  }

  Result<NodeAnswer> post() {
    const auto wait = left();
    NodeRequest request{.method = platform::HttpMethod::post,
                        .path = "/v1/billing",
                        .body = json::serialize(body_of(options_))};
    request.headers = {key_header(options_.request_id),
                       "Prefer: wait=" + std::to_string(wait.count())};
    request.timeout = wait + answer_margin;
    return client_.ask(std::move(request));
  }

  Result<NodeAnswer> look() {
    const auto wait = left();
    return client_.ask({.path = obligation_path(options_, wait), .timeout = wait + answer_margin});
  }

  /// Lost answers and busy nodes: the same key makes a repeat harmless.
  static bool is_worth_repeating(const Result<NodeAnswer>& answer) {
    if (!answer) return answer.error().code == ErrorCode::store_uncertain;
    return answer->status == 503 || answer->text_at("code") == "OW6004";
  }

  NodeClient& client_;
  const BillOptions& options_;
  const Clock::time_point until_;
};

ExitCode tell_lost(const Error& error, const BillOptions& options) {
  const auto code = report(error);
  if (code != ExitCode::unknown) return code;
  std::fprintf(stderr, "whether it was recorded is not known; ask again with --request-id %s\n",
               options.request_id.c_str());
  return code;
}

ExitCode tell(const Source& source, const NodeAnswer& answer, const BillOptions& options) {
  const std::string status_text =
      answer.status >= 400 ? answer.text_at("obligation_status") : answer.text_at("status");
  const auto status = parse_obligation_status(status_text);
  if (answer.status == 409 || !status || !answer.body.is_object()) {
    return tell_problem(source, answer);
  }
  const auto& meaning = ingress::status_row(*status);
  if (source.json) {
    std::printf("%s\n", json::serialize(answer.body).c_str());
  } else {
    std::printf("%-12s %s %s  %s  %s\n", status_text.c_str(), options.customer.c_str(),
                options.period.c_str(), money_text(answer.body.as_object()).c_str(),
                answer.text_at("charge_id").c_str());
  }
  for (const auto* member : {"decline_code", "next_attempt_at", "reason"}) {
    const auto text = answer.text_at(member);
    if (!text.empty()) std::fprintf(stderr, "%s: %s\n", member, text.c_str());
  }
  if (meaning.settled == ingress::Settled::no) {
    std::fprintf(stderr,
                 "not finished yet; the node goes on with it. To look again:\n"
                 "  onceward customers show %s --period %s\n",
                 options.customer.c_str(), options.period.c_str());
  }
  return meaning.bill_exit;
}

ExitCode bill_through(const Source& source, const BillOptions& options, seconds wait) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  auto answer = Billing(*client, options, wait).run();
  if (!answer) return tell_lost(answer.error(), options);
  return tell(source, *answer, options);
}

/// A node of its own on the store, without a port that others know.
ExitCode bill_on_store(const Source& source, const BillOptions& options, seconds wait) {
  ConfigSources sources;
  sources.file = source.config_file;
  sources.environment = config_environment();
  sources.flags = {{"http.listen", "127.0.0.1:0"},
                   {"http.admin_listen", "127.0.0.1:0"},
                   {"auth.tokens_file", ""}};
  auto loaded = load_config(sources);
  if (!loaded) return report(loaded.error());
  platform::Log log({.style = platform::LogStyle::text, .level = platform::LogLevel::warn});
  auto node = Node::start(loaded->config, log);
  if (!node) {
    const auto code = report(node.error());
    if (node.error().code == ErrorCode::store_locked) {
      std::fputs("a running node owns the store: ask it with --node URL\n", stderr);
    }
    return code;
  }
  Source own;
  own.node_url = (*node)->api_url();
  own.json = source.json;
  const auto code = bill_through(own, options, wait);
  (*node)->drain();
  return code;
}

}  // namespace

ExitCode bill(const Source& source, const BillOptions& given) {
  BillOptions options = given;
  const auto wait = parse_duration(options.wait);
  if (!wait) {
    return report({ErrorCode::invalid_argument,
                   "--wait must be a whole number with one unit, e.g. 30s or 2m"});
  }
  if (options.request_id.empty()) {
    options.request_id = new_request_id();
    std::fprintf(stderr, "request id %s\n", options.request_id.c_str());
  }
  if (options.payment_method.empty()) {
    options.payment_method = test_payment_method;
    std::fprintf(stderr, "no --payment-method: using the test card %s\n", test_payment_method);
  }
  const auto wait_s = std::chrono::duration_cast<seconds>(*wait);
  const bool on_store = source.node_url.empty() && !source.config_file.empty();
  return on_store ? bill_on_store(source, options, wait_s) : bill_through(source, options, wait_s);
}

}  // namespace onceward::app

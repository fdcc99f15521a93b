// Telling problems and asking for confirmation, for all verbs alike.
#include "app/verbs/node_verbs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>
#include <thread>

#include <onceward/core/money.hpp>

namespace onceward::app {

ExitCode tell_problem(const Source& source, const NodeAnswer& answer) {
  if (source.json && !answer.body.is_null()) {
    std::printf("%s\n", boost::json::serialize(answer.body).c_str());
  }
  std::string text = answer.text_at("detail");
  if (text.empty()) text = "the node answered " + std::to_string(answer.status);
  const std::string code = answer.text_at("code");
  std::fprintf(stderr, "onceward: %s%s\n", text.c_str(),
               code.empty() ? "" : (" (" + code + ")").c_str());
  const std::string charge_state = answer.text_at("charge_state");
  return ingress::exit_of_problem(
      {.http_status = answer.status, .code = code, .charge_state = charge_state});
}

bool is_asked_interactively() {
  return isatty(STDIN_FILENO) != 0;
}

bool confirm(const std::string& question) {
  if (!is_asked_interactively()) return true;
  std::fprintf(stderr, "%s [y/N] ", question.c_str());
  std::string line;
  std::getline(std::cin, line);
  if (line == "y" || line == "Y" || line == "yes") return true;
  std::fputs("onceward: not confirmed; nothing was done\n", stderr);
  return false;
}

std::optional<ExitCode> insist(const std::string& question, bool is_confirmed) {
  if (is_confirmed) return std::nullopt;
  if (is_asked_interactively()) {
    return confirm(question) ? std::nullopt : std::optional(ExitCode::failed);
  }
  std::fprintf(stderr, "onceward: %s\nnobody can be asked here; repeat it with --yes\n",
               question.c_str());
  return ExitCode::usage;
}

std::string new_request_id() {
  std::random_device random;
  std::string id = "cli-";
  constexpr std::string_view hex = "0123456789abcdef";
  for (int i = 0; i < 4; ++i) {
    for (std::uint32_t bits = random(), n = 0; n < 8; ++n, bits >>= 4U) id += hex[bits & 15U];
  }
  return id;
}

std::string key_header(std::string_view request_id) {
  std::string header = "Idempotency-Key: \"";
  for (const char c : request_id) {
    if (c == '"' || c == '\\') header += '\\';
    header += c;
  }
  return header + '"';
}

Result<NodeAnswer> post_repeatedly(NodeClient& client, const NodeRequest& request,
                                   const Repeated& how) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds answer_margin{20};
  constexpr std::chrono::seconds wait_per_request_max{60};
  const auto until = Clock::now() + how.wait;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(until - Clock::now());
    const auto wait = std::clamp(left, std::chrono::seconds{0}, wait_per_request_max);
    NodeRequest post = request;
    post.method = platform::HttpMethod::post;
    post.headers.push_back(key_header(how.request_id));
    post.headers.push_back("Prefer: wait=" + std::to_string(wait.count()));
    post.timeout = wait + answer_margin;
    auto answer = client.ask(std::move(post));
    const bool again =
        answer ? answer->status == 503 : answer.error().code == ErrorCode::store_uncertain;
    if (!again || Clock::now() >= until) return answer;
    std::this_thread::sleep_for(std::chrono::seconds{1});
  }
}

std::string money_text(const boost::json::object& money) {
  const auto* currency = money.if_contains("currency");
  const auto* amount = money.if_contains("amount_minor");
  if (currency == nullptr || !currency->is_string() || amount == nullptr || !amount->is_int64()) {
    return "?";
  }
  const auto parsed = Currency::parse(std::string(currency->as_string().c_str()));
  if (!parsed) return std::to_string(amount->as_int64()) + " ?";
  return to_display(Money{amount->as_int64(), *parsed});
}

}  // namespace onceward::app

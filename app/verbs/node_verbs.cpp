// Telling problems and asking for confirmation, for all verbs alike.
#include "app/verbs/node_verbs.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>

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

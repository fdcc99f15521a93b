// What the verbs that ask a node share: telling problems, asking for confirmation.
#pragma once

#include <string>

#include "app/node_client.hpp"

namespace onceward::app {

/// Prints a problem answer on stderr (its detail and code; the document on stdout with --json) and
/// returns its exit code.
[[nodiscard]] ExitCode tell_problem(const Source& source, const NodeAnswer& answer);

/// True if a person can be asked: standard input is a terminal.
[[nodiscard]] bool is_asked_interactively();
/// Asks on the terminal; without one the answer is yes, since nobody is there to be asked. False,
/// and told, if it was declined.
[[nodiscard]] bool confirm(const std::string& question);

/// "49.90 usd" for {"currency","amount_minor"}.
[[nodiscard]] std::string money_text(const boost::json::object& money);

}  // namespace onceward::app

// What the verbs that ask a node share: telling problems, asking for confirmation.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

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

/// What a dangerous verb does before it acts: nothing if it was confirmed already; on a terminal it
/// asks; without one, where nobody can be asked, it tells the question and insists on --yes.
/// Absent: go on.
[[nodiscard]] std::optional<ExitCode> insist(const std::string& question, bool is_confirmed);

/// A request's own name, for those who give none.
[[nodiscard]] std::string new_request_id();
/// `Idempotency-Key: "..."`.
[[nodiscard]] std::string key_header(std::string_view request_id);

struct Repeated {
  std::string request_id;
  std::chrono::seconds wait{30};
};
/// Posts a request that is named by its id until it is answered: a lost answer, a busy node and a
/// request still inside are asked for again with the same id, at most for the wait.
[[nodiscard]] Result<NodeAnswer> post_repeatedly(NodeClient& client, const NodeRequest& request,
                                                 const Repeated& how);

/// "49.90 usd" for {"currency","amount_minor"}.
[[nodiscard]] std::string money_text(const boost::json::object& money);

}  // namespace onceward::app

// Fault rules: which request or event meets which fault, decided by counts, matches and a seed.
// Rules belong to stages of a request's life; at each stage the first rule that matches acts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <onceward/core/result.hpp>
#include <onceward/provider/simulator/simulated_provider.hpp>
#include <onceward/provider/simulator/wire.hpp>

#include "provider/simulator/payment_outcome.hpp"
#include "provider/simulator/random.hpp"

namespace onceward::provider::simulator {

/// How a rule says that a connection ends.
enum class FaultEnd : std::uint8_t { fin, rst, refuse, tls };

/// Answered, or cut, before the provider looks at the request: nothing is executed.
struct GateFault {
  enum class Kind : std::uint8_t {
    drop,
    stale_connection,
    hang,
    rate_limit,
    lock_timeout,
    key_in_use,
    unauthorized,
    forbidden,
    gateway,
  };
  Kind kind = Kind::drop;
  WireEnding end = WireEnding::fin;         ///< drop, stale_connection
  std::chrono::milliseconds closed_for{0};  ///< drop with refused or tls_failed
  std::chrono::milliseconds idle_for{0};    ///< stale_connection
  int status = 0;                           ///< gateway
  std::string retry_after;                  ///< rate_limit; empty: no header
  std::string reason;                       ///< rate_limit
  std::chrono::milliseconds in_use_for{0};  ///< key_in_use
};

/// The answer takes longer.
struct SlowFault {
  std::chrono::milliseconds delay{0};
  std::optional<CommitAt> commit_at;
};

/// The saved answer is a 500, whatever becomes of the work behind it.
struct ResultFault {
  enum class Work : std::uint8_t {
    none,    ///< never happens
    done,    ///< has happened
    later,   ///< rolled forward: happens `after` that time
    undone,  ///< rolled back: seems to go on, and comes to nothing `after` that time
  };
  Work work = Work::none;
  std::chrono::milliseconds after{0};
};

/// How an attempt to take money ends.
struct OutcomeFault {
  PaymentOutcome outcome;
  std::optional<std::uint64_t> times_per_customer;
};

/// How a refund ends.
struct RefundFault {
  RefundOutcome outcome;
};

/// A list shows no more than that at once, whatever was asked for.
struct ListFault {
  std::uint64_t page_max = 1;
};

/// What is odd about a member of an answer that is otherwise right.
enum class Oddity : std::uint8_t {
  missing,  ///< the member is not there
  null,     ///< it is null
  as_text,  ///< a number or boolean is written as text
  twice,    ///< it is there twice, with different values
  upper,    ///< its text is in capital letters
  replace,  ///< it has another text
  html,     ///< the whole answer is a page
};

/// Executed and saved as usual; only what this client gets is different.
struct WireFault {
  enum class Kind : std::uint8_t {
    drop,
    cut,
    hang,
    gateway,
    bad_json,
    wrong_amount,
    unknown_status,
    odd,
  };
  Kind kind = Kind::drop;
  WireEnding end = WireEnding::fin;           ///< drop, cut
  std::size_t bytes = 20;                     ///< cut: bytes of the body that still go out
  WireFraming framing = WireFraming::length;  ///< cut
  int status = 0;                             ///< gateway
  std::string text;                 ///< unknown_status: the status; odd, replace: the text
  Oddity oddity = Oddity::missing;  ///< odd
  std::string member;               ///< odd
};

/// The Stripe-Should-Retry header; absent: removed.
struct HeaderFault {
  std::optional<std::string> should_retry;
};

/// What happens to an event on its way, or to one attempt to deliver it.
struct WebhookFault {
  enum class Kind : std::uint8_t {
    repeat,
    twin,
    reorder,
    delay,
    lose,
    early,
    bad_signature,  // this one and the following: of one attempt
    old_stamp,
    future_stamp,
    truncated,
  };
  Kind kind = Kind::repeat;
  std::uint64_t n = 1;                 ///< repeat: how many more; reorder: behind how many
  std::chrono::milliseconds delay{0};  ///< delay
  bool is_signed = false;              ///< truncated: the signature is over what is left

  [[nodiscard]] bool is_of_attempt() const noexcept { return kind >= Kind::bad_signature; }
};

/// Acts once, when the rules are set; never kept as a rule.
struct ExpireKeys {};

using FaultAction = std::variant<GateFault, SlowFault, ResultFault, OutcomeFault, RefundFault,
                                 ListFault, WireFault, HeaderFault, WebhookFault, ExpireKeys>;

/// What rules match on.
struct RequestFacts {
  std::uint64_t nr = 0;  ///< the how-manieth request under /v1
  std::string method;
  std::string path;
  std::string key;
  std::string customer;           ///< onceward_customer, also of the intent in the path
  std::string provider_customer;  ///< customer at the provider, also of the intent in the path
  bool money = false;             ///< would take money
  std::string event;              ///< type of the event; empty for a request
  /// How long the connection was idle before this request; absent on a new one.
  std::optional<std::chrono::milliseconds> idle;
};

struct FaultMatch {
  std::optional<std::uint64_t> nth;
  std::optional<std::string> key;
  std::optional<std::string> customer;
  std::optional<std::string> path;    ///< '*' stands for any text
  std::optional<std::string> method;  ///< absent: POST; "ANY": every method
  std::optional<bool> money;
  std::optional<std::string> event;  ///< '*' stands for any text
};

struct FaultRule {
  std::string name;  ///< kind as in the rule, e.g. "gw_502"
  FaultAction action;
  FaultMatch match;
  std::optional<std::uint64_t> count;  ///< acts at most so often; absent: always
  std::uint64_t skip = 0;              ///< lets the first matching requests pass
  std::uint64_t parts_per_million = 1'000'000;
  std::string text;  ///< the rule as it was given

  std::uint64_t matched = 0;
  std::uint64_t acted = 0;
  std::map<std::string, std::uint64_t> acted_on;  ///< per customer, where times are limited so
  std::map<std::string, Timestamp> in_use_until;  ///< per key, driver time
};

/// Parses `{"rules":[...]}`. invalid_argument names rule and member.
[[nodiscard]] Result<std::vector<FaultRule>> parse_fault_rules(std::string_view json);

/// Adds the name of a fault that acted to those before it.
inline void note_fault(std::string& acted, std::string_view name) {
  acted.append(acted.empty() ? "" : "+").append(name);
}

class Faults {
 public:
  explicit Faults(std::uint64_t seed) : random_(seed) {}

  void replace(std::vector<FaultRule> rules) { rules_ = std::move(rules); }
  [[nodiscard]] const std::vector<FaultRule>& rules() const noexcept { return rules_; }
  /// The first rule with an action of this type that acts on this request, if one does. Counts it
  /// and appends its name to `acted`.
  template <class Action>
  [[nodiscard]] std::optional<Action> take(const RequestFacts& facts, Timestamp driver_now,
                                           std::string& acted) {
    for (FaultRule& rule : rules_) {
      const Action* action = std::get_if<Action>(&rule.action);
      if (action == nullptr || !acts(rule, facts, driver_now)) continue;
      note_fault(acted, rule.name);
      return *action;
    }
    return std::nullopt;
  }
  /// All webhook faults that act on this event, or on this attempt to deliver it: the first rule
  /// of each kind.
  [[nodiscard]] std::vector<WebhookFault> take_webhook(const RequestFacts& facts,
                                                       Timestamp driver_now, bool of_attempt,
                                                       std::string& acted);
  void restart(std::uint64_t seed) {
    rules_.clear();
    random_ = Random(seed);
  }

 private:
  [[nodiscard]] bool acts(FaultRule& rule, const RequestFacts& facts, Timestamp driver_now);
  std::vector<FaultRule> rules_;
  Random random_;
};

}  // namespace onceward::provider::simulator

// The resume table: what may be done about a request without a definitive answer. One pure
// function; every path that is not sure of an outcome goes through it: recovery, watchdog, retry,
// look-up.
#pragma once

#include <cstdint>
#include <string_view>

#include <onceward/billing/billing_events.hpp>

namespace onceward::billing {

enum class ResumeAction : std::uint8_t {
  send_same_key,         ///< the provider still remembers the key: it answers or executes once
  send_next_generation,  ///< a second send provably cannot take money twice
  look_up,               ///< read the provider's state first
  wait_until_quiet,      ///< a request of ours may still be running there: look up again then
  call_off,              ///< it took no money and never will: the obligation may be closed
  park,                  ///< nothing automatic is safe
};
[[nodiscard]] std::string_view to_text(ResumeAction action) noexcept;

/// What the obligation is heading for.
enum class Heading : std::uint8_t {
  bill,        ///< it is to be charged
  call_off,    ///< it is to be closed without taking money
  by_verdict,  ///< the same, and an operator vouches for what no read can prove
};

/// Everything the table may look at.
struct ResumeFacts {
  Step step = Step::create;
  /// Some send may have executed (see RequestState::tainted); false only with proof of none.
  bool tainted = true;
  /// The age is trusted and below same_key_max: the provider surely remembers the key.
  bool young = false;
  /// The same key would only replay a saved error.
  bool pointless = false;
  /// Each request of ours was answered, or its not_after plus the provider's bound has passed.
  bool quiet = false;
  LookedUp looked_up = LookedUp::nothing;
  /// Same-key sends since the last look-up reached the configured burst.
  bool burst_used = false;
  Heading heading = Heading::bill;
  /// An operator vouches, by a policy that asks for it, that the request took nothing.
  bool may_rebill = false;
};

/// | step | rule, first that fits |
/// | --- | --- |
/// | any but cancel | untainted: same key; if it is to be called off: call off |
/// | any | young, not pointless, burst left: same key, unless that could take money that is not
/// wanted any more |
/// | any | looked up too early: quiet → look up, else wait |
/// | create | list holds nothing of ours: quiet → next generation (only then no second intent can
/// appear), or call off; else wait |
/// | confirm | intent unpaid: quiet → next generation on the same intent, or call off; else wait |
/// | charge, one step | list holds nothing: absence is no proof: quiet → park, unless an operator
/// vouches (then call off, or next generation), else wait |
/// | one step | its intent is known and unpaid: as confirm, of that intent |
/// | cancel | intent unpaid or gone: same key while young, else next generation |
/// | refund | as charge |
/// | any | otherwise: look up |
[[nodiscard]] ResumeAction resume_action(const ResumeFacts& facts) noexcept;

}  // namespace onceward::billing

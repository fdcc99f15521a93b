// The classification table: what each observation of a call means. One table for the client (which
// observation is this answer?) and for billing (what may be done next?). Pure.
#pragma once

#include <string_view>

#include <onceward/core/external_call.hpp>

namespace onceward::provider {

/// What an observation says about the money of the request it answers.
enum class Verdict : std::uint8_t {
  by_status,      ///< an object: its status decides
  declined,       ///< definitive: no money, payer's side refused
  rejected,       ///< definitive: no money, the request is wrong; an operator must act
  not_executed,   ///< definitive: this send did nothing; same key again after a pause
  unknown,        ///< may have acted; only positive evidence leaves this state
  look_up_first,  ///< the object's state must be read before anything else is decided
};

/// `tainted`: an earlier send of the same key may have executed (journaled without a definitive
/// answer), or this answer cannot prove a single wire send.
[[nodiscard]] Verdict verdict(Observation observation, bool tainted) noexcept;

/// True if sending the same key again at once is pointless (a saved answer would be replayed):
/// look up instead.
[[nodiscard]] bool same_key_is_pointless(Observation observation) noexcept;

/// Which observation an HTTP answer is, from its status, `error.type` and `error.code`. The body
/// must have been read whole; transport failures are `not_sent` or `broken` instead.
[[nodiscard]] Observation observe(int http_status, std::string_view error_type,
                                  std::string_view error_code) noexcept;

/// The three buckets of decline codes; a code never seen before is `later` (few, spaced tries).
enum class DeclineBucket : std::uint8_t { later, customer_action, never };
[[nodiscard]] DeclineBucket decline_bucket(std::string_view code,
                                           std::string_view decline_code) noexcept;
/// False if neither code is one we know: its bucket is a guess that a person should see.
[[nodiscard]] bool is_listed_decline(std::string_view code, std::string_view decline_code) noexcept;

}  // namespace onceward::provider

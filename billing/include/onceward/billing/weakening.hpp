// Weakening: guards of the billing entity taken out on purpose, so that a test can prove that what
// it judges by notices. Only weakened_billing_entity_type() takes any out; a node never does.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <onceward/core/result.hpp>

namespace onceward::billing {

/// One guard each; the comment says what happens without it. Guards of the journal (claim, epoch)
/// are not here: whoever takes those out wraps the journal.
enum class Guard : std::uint8_t {
  stable_key,         ///< every send gets a key of its own
  attempt_in_key,     ///< a try after a decline sends the key of the first try
  key_age,            ///< the same key is sent however old it is
  unknown_lookup,     ///< a call without a definitive answer counts as declined
  resume,             ///< what is open counts as done: nothing takes it up again
  charge_status,      ///< an answer that money is on its way counts as charged
  period_of_command,  ///< the period is the one of the clock
  cap,                ///< the spend cap is booked, not enforced
};
inline constexpr std::array all_guards = {
    Guard::stable_key, Guard::attempt_in_key, Guard::key_age,           Guard::unknown_lookup,
    Guard::resume,     Guard::charge_status,  Guard::period_of_command, Guard::cap};

[[nodiscard]] std::string_view to_text(Guard guard) noexcept;
/// Exactly what to_text gives; anything else is invalid_argument and names the guards there are.
[[nodiscard]] Result<Guard> parse_guard(std::string_view text);

/// A set of guards; empty by default. A value.
class Weakening {
 public:
  constexpr Weakening() = default;
  [[nodiscard]] static constexpr Weakening without(Guard guard) noexcept {
    Weakening one;
    one.taken_out_ = bit(guard);
    return one;
  }
  [[nodiscard]] constexpr bool lacks(Guard guard) const noexcept {
    return (taken_out_ & bit(guard)) != 0;
  }
  [[nodiscard]] constexpr bool is_none() const noexcept { return taken_out_ == 0; }

  friend constexpr bool operator==(const Weakening&, const Weakening&) = default;

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(Guard guard) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(guard);
  }
  std::uint32_t taken_out_ = 0;
};

}  // namespace onceward::billing

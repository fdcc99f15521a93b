// Names of hinted kinds: permanent text, as the provider spells them.
#include <onceward/billing/hint_commands.hpp>

#include <array>

namespace onceward::billing {

namespace {

constexpr std::array<std::string_view, 4> kind_names = {"payment_intent", "charge", "refund",
                                                        "dispute"};

}  // namespace

std::string_view to_text(HintedKind kind) noexcept {
  return kind_names[static_cast<std::size_t>(kind)];
}

Result<HintedKind> parse_hinted_kind(std::string_view text) {
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    if (kind_names[i] == text) return static_cast<HintedKind>(i);
  }
  return fail(ErrorCode::invalid_argument,
              "unknown kind of object '" + std::string(text) +
                  "': known are payment_intent, charge, refund and dispute");
}

}  // namespace onceward::billing

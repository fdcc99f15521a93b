// Derivation of provider keys; the golden vectors in the tests pin every byte of it.
#include <onceward/billing/idempotency_key.hpp>

#include <array>
#include <string>

#include <onceward/core/digest.hpp>

namespace onceward::billing {

namespace {

constexpr std::size_t key_digits = 32;

struct StepName {
  Step step;
  std::string_view text;
};
constexpr std::array<StepName, 6> step_names = {{{Step::charge, "charge"},
                                                 {Step::create, "create"},
                                                 {Step::create_confirm, "create_confirm"},
                                                 {Step::confirm, "confirm"},
                                                 {Step::cancel, "cancel"},
                                                 {Step::refund, "refund"}}};

IdempotencyKey from_bytes(std::string_view bytes) {
  return IdempotencyKey{to_hex(sha256(bytes)).substr(0, key_digits)};
}

bool is_colon_key(const BillingPolicy& policy, const KeyInputs& inputs) {
  return policy.scheme == KeyScheme::colon && inputs.step == Step::charge && inputs.attempt == 1 &&
         inputs.generation == 0 && inputs.obligation.purpose.value() == "subscription";
}

}  // namespace

std::string_view to_text(Step step) noexcept {
  for (const auto& name : step_names) {
    if (name.step == step) return name.text;
  }
  return "unknown";
}

Result<Step> parse_step(std::string_view text) {
  for (const auto& name : step_names) {
    if (name.text == text) return name.step;
  }
  return fail(ErrorCode::decode_failed, "unknown step '" + std::string(text) + "'");
}

bool moves_money(Step step) noexcept {
  return step == Step::charge || step == Step::create_confirm || step == Step::confirm;
}

IdempotencyKey idempotency_key(const BillingPolicy& policy, const KeyInputs& inputs) {
  const ObligationKey& of = inputs.obligation;
  ONCEWARD_CHECK(!of.customer.value().empty(), "a key is made for a customer");
  ONCEWARD_CHECK(inputs.attempt >= 1, "attempts count from 1");
  if (is_colon_key(policy, inputs)) {
    // Injective although ids may hold colons: period and namespace cannot.
    return from_bytes(of.customer.value() + ":" + of.period.text() + ":" + policy.ns.value());
  }
  const std::string attempt = std::to_string(inputs.attempt);
  const std::string generation = std::to_string(inputs.generation);
  const std::array<std::string_view, 10> fields = {
      "onceward-key-v1",  policy.account.value(), to_text(policy.mode),
      policy.ns.value(),  of.customer.value(),    of.period.text(),
      of.purpose.value(), to_text(inputs.step),   attempt,
      generation};
  return from_bytes(netstrings(fields));
}

}  // namespace onceward::billing

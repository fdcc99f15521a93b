// The outcomes an answer can record, shared by answers to requests and answers to look-ups. Private
// to billing; the obligation of the draft exists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "billing/draft.hpp"

namespace onceward::billing {

/// The object carries the metadata of this obligation.
[[nodiscard]] bool is_ours(const Draft& draft, const ProviderObject& object);

/// Amount, currency and customer are the frozen ones.
[[nodiscard]] bool has_our_money(const Draft& draft, const ProviderObject& object);

/// The attempt that a charge names in its metadata; absent on intents and foreign charges.
[[nodiscard]] std::optional<std::uint32_t> attempt_of(const ProviderObject& object);

/// Charged: closes the obligation and settles the spend cap. A non-empty alarm is for a person. If
/// it is completed already and this is other money, a second charge is recorded for a person.
void complete(Draft& draft, const ProviderObject& object, std::string alarm);

/// The obligation's request may have been executed; looked at again after `pause`.
void unknown(Draft& draft, std::string_view observation, std::string code, LookedUp looked_up,
             std::chrono::milliseconds pause);

/// How long to leave a request alone after this answer.
[[nodiscard]] std::chrono::milliseconds pause_after(const Draft& draft,
                                                    const ExternalAnswer& answer);

/// Definitive refusal by the payer's side; dunning says what follows.
void decline(Draft& draft, std::string code, std::string decline_code, std::string failure_charge,
             std::string intent);

/// The provider or the customer still has to act.
void pending(Draft& draft, BillingPending::Kind kind, const std::string& intent);

/// The obligation's intent is dead without money: its reservation is released.
void canceled(Draft& draft, const std::string& intent);

/// The intent of a create or look-up whose money has not moved yet.
void adopt(Draft& draft, const ProviderObject& intent);

/// An object of ours with another amount, currency or customer than recorded: only a person can
/// tell.
void park_mismatch(Draft& draft);

}  // namespace onceward::billing

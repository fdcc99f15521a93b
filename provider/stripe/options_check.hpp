// Refuses options that make no sense or would give the secret away. Pure; used by StripeProvider.
#pragma once

#include <onceward/provider/stripe_provider.hpp>

namespace onceward::provider::stripe {

/// The options with base_url in its plain form, or invalid_config with what to change. The message
/// never holds the key.
[[nodiscard]] Result<StripeProviderOptions> check_options(StripeProviderOptions options);

}  // namespace onceward::provider::stripe

// Checks of StripeProviderOptions.
#include "provider/stripe/options_check.hpp"

#include <algorithm>

namespace onceward::provider::stripe {

namespace {

constexpr std::string_view https = "https://";
constexpr std::string_view http = "http://";

Unexpected refuse(std::string context) {
  return fail(ErrorCode::invalid_config, "provider: " + std::move(context));
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool is_host_and_port(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789.-:[]") == std::string_view::npos;
}

Result<Unit> check_url(const StripeProviderOptions& options) {
  const std::string_view url = options.base_url;
  const bool is_https = url.starts_with(https);
  if (!is_https && !url.starts_with(http)) {
    return refuse("base_url must begin with https:// (or http:// for a simulator)");
  }
  if (!is_host_and_port(url.substr(is_https ? https.size() : http.size()))) {
    return refuse("base_url must be scheme, host and port only, e.g. https://api.stripe.com");
  }
  if (!is_https && options.secret_key.reveal().find("_live_") != std::string_view::npos) {
    return refuse("a live key is never sent over plain http: use an https base_url");
  }
  return ok();
}

}  // namespace

Result<StripeProviderOptions> check_options(StripeProviderOptions options) {
  if (options.base_url.ends_with('/')) options.base_url.pop_back();
  auto url = check_url(options);
  if (!url) return Unexpected{url.error()};
  if (options.secret_key.is_empty()) return refuse("the secret key is empty");
  if (!is_visible(options.secret_key.reveal())) {
    return refuse(
        "the secret key holds white space or other invisible characters; was it copied "
        "with its line end?");
  }
  if (options.stripe_version.empty() || !is_visible(options.stripe_version)) {
    return refuse("stripe_version must be a version of the API, e.g. 2024-06-20");
  }
  if (options.timeout.count() <= 0 || options.connect_timeout.count() <= 0) {
    return refuse("timeouts must be above zero");
  }
  if (options.probe_interval.count() <= 0) return refuse("probe_interval must be above zero");
  constexpr std::size_t in_flight_limit = 10'000;
  if (options.max_in_flight == 0 || options.max_in_flight > in_flight_limit) {
    return refuse("max_in_flight must be 1 to 10000");
  }
  return options;
}

}  // namespace onceward::provider::stripe

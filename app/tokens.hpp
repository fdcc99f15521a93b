// Bearer tokens of the API, read from the configured file. Tokens are stored as hashes only.
#pragma once

#include <vector>

#include <onceward/core/result.hpp>
#include <onceward/ingress/http_api.hpp>

#include "app/config/config.hpp"

namespace onceward::app {

/// The file holds one table per token: `[[token]]` with `name`, `role` (viewer, service, operator)
/// and `sha256` (64 hex digits of the token's text). No file configured: no tokens. A file that is
/// missing, empty, malformed or readable by others is invalid_config and says which.
[[nodiscard]] Result<std::vector<ingress::Token>> read_tokens(const Config& config);

}  // namespace onceward::app

// Secrets: read from files at start, never from flags, never shown. Called once by the node.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <onceward/core/result.hpp>

#include "app/config/config.hpp"

namespace onceward::app {

/// Where a secret is: a path, or a name under $CREDENTIALS_DIRECTORY. At most one is set.
struct SecretPlace {
  std::string_view what;  ///< for messages, e.g. "the provider's key"
  std::filesystem::path file;
  std::string credential;
  std::string credentials_directory;  ///< value of $CREDENTIALS_DIRECTORY, may be empty
};

/// The content without its final newline. invalid_config, naming the file and the remedy but never
/// the content, if it is absent, empty, longer than 4 KiB, not one line of visible characters, or
/// readable by others than its owner and group.
[[nodiscard]] Result<std::string> read_secret(const SecretPlace& place);

/// The provider's secret key. For a provider on loopback in mode test, where none is configured, a
/// well-known test key.
[[nodiscard]] Result<std::string> read_provider_key(const Config& config);

/// The secrets of the webhook endpoint as they are in the file, one per line (two while one of them
/// is being replaced); empty if none is configured. Failures as of read_secret().
[[nodiscard]] Result<std::string> read_webhook_secrets(const Config& config);

/// Refuses a file that others than owner and group can read: invalid_config with the remedy.
[[nodiscard]] Result<Unit> check_not_world_readable(const std::filesystem::path& file);

}  // namespace onceward::app

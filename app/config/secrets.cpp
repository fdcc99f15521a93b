// Reading secret files. No message here may hold what was read.
#include "app/config/secrets.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace onceward::app {

namespace {

constexpr std::size_t secret_bytes_max = 4096;

Unexpected refuse(const SecretPlace& place, const std::filesystem::path& file,
                  std::string_view why) {
  return fail(ErrorCode::invalid_config,
              std::string(place.what) + ": the file " + file.string() + " " + std::string(why));
}

/// The file's text without its final newlines, and the file, for messages.
struct SecretText {
  std::filesystem::path file;
  std::string text;
};

Result<SecretText> read_secret_text(const SecretPlace& place) {
  std::filesystem::path file = place.file;
  if (!place.credential.empty()) {
    if (place.credentials_directory.empty()) {
      return fail(ErrorCode::invalid_config,
                  std::string(place.what) + ": the credential \"" + place.credential +
                      "\" is configured, but $CREDENTIALS_DIRECTORY is not set; run under systemd "
                      "with LoadCredential=, or configure a file");
    }
    file = std::filesystem::path(place.credentials_directory) / place.credential;
  }
  if (auto allowed = check_not_world_readable(file); !allowed) {
    return fail(ErrorCode::invalid_config,
                std::string(place.what) + ": " + allowed.error().context);
  }
  std::ifstream in(file, std::ios::binary);
  std::string secret(secret_bytes_max + 1, '\0');
  in.read(secret.data(), static_cast<std::streamsize>(secret.size()));
  if (in.bad() || (!in && !in.eof())) return refuse(place, file, "cannot be read");
  secret.resize(static_cast<std::size_t>(in.gcount()));
  if (secret.size() > secret_bytes_max) return refuse(place, file, "is longer than 4 KiB");
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) return refuse(place, file, "is empty");
  return SecretText{std::move(file), std::move(secret)};
}

std::string credentials_directory() {
  const char* directory = std::getenv("CREDENTIALS_DIRECTORY");
  return directory == nullptr ? "" : directory;
}

}  // namespace

Result<Unit> check_not_world_readable(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error || !std::filesystem::exists(status)) {
    return fail(ErrorCode::invalid_config, "the file " + file.string() + " does not exist");
  }
  if (std::filesystem::is_directory(status)) {
    return fail(ErrorCode::invalid_config, "the file " + file.string() + " is a directory");
  }
  using std::filesystem::perms;
  if ((status.permissions() & perms::others_all) != perms::none) {
    return fail(ErrorCode::invalid_config, "the file " + file.string() +
                                               " is open to every user of this machine; run: "
                                               "chmod 600 " +
                                               file.string());
  }
  return ok();
}

Result<std::string> read_secret(const SecretPlace& place) {
  auto secret = read_secret_text(place);
  if (!secret) return Unexpected{std::move(secret).error()};
  const bool is_visible = std::all_of(secret->text.begin(), secret->text.end(),
                                      [](char c) { return c > ' ' && c <= '~'; });
  if (!is_visible) return refuse(place, secret->file, "must hold one line of visible characters");
  return std::move(secret->text);
}

Result<std::string> read_provider_key(const Config& config) {
  const auto& provider = config.provider;
  // config_check allows this for a loopback provider in mode test only.
  if (provider.key_file.empty() && provider.key_credential.empty()) return std::string("sk_test_0");
  return read_secret({.what = "the provider's key",
                      .file = provider.key_file,
                      .credential = provider.key_credential,
                      .credentials_directory = credentials_directory()});
}

Result<std::string> read_webhook_secrets(const Config& config) {
  const auto& webhooks = config.webhooks;
  if (webhooks.secret_file.empty() && webhooks.secret_credential.empty()) return std::string();
  auto secret = read_secret_text({.what = "the webhook secret",
                                  .file = webhooks.secret_file,
                                  .credential = webhooks.secret_credential,
                                  .credentials_directory = credentials_directory()});
  if (!secret) return Unexpected{std::move(secret).error()};
  return std::move(secret->text);
}

}  // namespace onceward::app

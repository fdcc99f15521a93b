// Secrets come from private one-line files, and no message ever quotes them.
#include <gtest/gtest.h>

#include "app/config/secrets.hpp"
#include "tests/app/temp_folder.hpp"

namespace onceward::app {
namespace {

class SecretsTest : public ::testing::Test {
 protected:
  std::string refusal(const std::filesystem::path& file) {
    auto secret = read_secret(
        {.what = "the key", .file = file, .credential = "", .credentials_directory = ""});
    if (secret) return "";
    EXPECT_EQ(secret.error().code, ErrorCode::invalid_config);
    EXPECT_EQ(secret.error().context.find("sk_live"), std::string::npos);
    return secret.error().context;
  }
  test::TempFolder folder_;
};

TEST_F(SecretsTest, one_line_is_read_without_its_newline) {
  for (const auto* content : {"sk_live_1", "sk_live_1\n", "sk_live_1\r\n"}) {
    auto secret = read_secret({.what = "the key",
                               .file = folder_.write("key", content),
                               .credential = "",
                               .credentials_directory = ""});
    ASSERT_TRUE(secret.has_value()) << secret.error().context;
    EXPECT_EQ(*secret, "sk_live_1");
  }
}

TEST_F(SecretsTest, credential_is_a_file_in_the_credentials_directory) {
  folder_.write("stripe_key", "sk_live_2\n");
  auto secret = read_secret({.what = "the key",
                             .file = {},
                             .credential = "stripe_key",
                             .credentials_directory = folder_.path().string()});
  ASSERT_TRUE(secret.has_value()) << secret.error().context;
  EXPECT_EQ(*secret, "sk_live_2");

  auto homeless = read_secret(
      {.what = "the key", .file = {}, .credential = "stripe_key", .credentials_directory = ""});
  ASSERT_FALSE(homeless.has_value());
  EXPECT_NE(homeless.error().context.find("$CREDENTIALS_DIRECTORY is not set"), std::string::npos);
}

TEST_F(SecretsTest, file_open_to_everybody_is_refused_with_the_remedy) {
  const auto file = folder_.write("key", "sk_live_3\n");
  using std::filesystem::perms;
  std::filesystem::permissions(file, perms::owner_read | perms::others_read);
  EXPECT_NE(refusal(file).find("chmod 600 " + file.string()), std::string::npos);
  std::filesystem::permissions(file, perms::owner_read | perms::group_read);
  EXPECT_EQ(refusal(file), "");
}

TEST_F(SecretsTest, what_is_no_secret_is_refused) {
  EXPECT_NE(refusal(folder_.path() / "absent").find("does not exist"), std::string::npos);
  EXPECT_NE(refusal(folder_.path()).find("is a directory"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("a", "")).find("is empty"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("b", "\n\n")).find("is empty"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("c", "sk_live_1\nsk_live_2\n")).find("one line"),
            std::string::npos);
  EXPECT_NE(refusal(folder_.write("d", "sk_live 1\n")).find("one line"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("e", std::string(5000, 'x'))).find("longer than"),
            std::string::npos);
}

TEST_F(SecretsTest, webhook_secrets_are_lines_of_a_private_file_and_may_be_absent) {
  Config config;
  EXPECT_EQ(read_webhook_secrets(config).value(), "");
  config.webhooks.secret_file = folder_.write("webhook", "whsec_a\nwhsec_b\n");
  EXPECT_EQ(read_webhook_secrets(config).value(), "whsec_a\nwhsec_b");
  using std::filesystem::perms;
  std::filesystem::permissions(config.webhooks.secret_file, perms::owner_read | perms::others_read);
  const auto open = read_webhook_secrets(config);
  ASSERT_FALSE(open.has_value());
  EXPECT_NE(open.error().context.find("chmod 600"), std::string::npos);
  EXPECT_EQ(open.error().context.find("whsec_a"), std::string::npos);
}

}  // namespace
}  // namespace onceward::app

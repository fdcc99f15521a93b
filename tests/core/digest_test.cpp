// Published test vectors of SHA-256 and HMAC-SHA-256, and the text forms of digests.
#include <onceward/core/digest.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace onceward {
namespace {

using std::string_literals::operator""s;

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

TEST(Sha256, GivesThePublishedVectors) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HashesBytesOfEveryValue) {
  std::string bytes;
  for (int value = 0; value < 256; ++value) bytes.push_back(static_cast<char>(value));
  EXPECT_EQ(to_hex(sha256(bytes)),
            "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880");
}

TEST(Sha256, OfNoPartsIsThatOfNothing) {
  EXPECT_EQ(sha256(std::span<const std::string_view>()), sha256(""));
}

RC_GTEST_PROP(Sha256, OfPartsIsThatOfTheirConcatenation, (const std::vector<std::string>& parts)) {
  std::string whole;
  for (const auto& part : parts) whole += part;
  RC_ASSERT(sha256(views_of(parts)) == sha256(whole));
}

struct HmacVector {
  std::string key;
  std::string data;
  std::string expected;
};

// RFC 4231, section 4; case 5 gives the first 128 bits only.
const std::vector<HmacVector> rfc_4231 = {
    {std::string(20, '\x0b'), "Hi There",
     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {"Jefe", "what do ya want for nothing?",
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {std::string(20, '\xaa'), std::string(50, '\xdd'),
     "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
    {"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16"
     "\x17\x18\x19",
     std::string(50, '\xcd'), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
    {std::string(20, '\x0c'), "Test With Truncation", "a3b6167473100ee06e0c796c2955552b"},
    {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    {std::string(131, '\xaa'),
     "This is a test using a larger than block-size key and a larger than block-size data. The key "
     "needs to be hashed before being used by the HMAC algorithm.",
     "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
};

TEST(HmacSha256, GivesTheVectorsOfRfc4231) {
  for (const auto& vector : rfc_4231) {
    const std::string hex = to_hex(hmac_sha256(vector.key, vector.data));
    EXPECT_EQ(hex.substr(0, vector.expected.size()), vector.expected) << vector.data;
  }
}

TEST(HmacSha256, TakesAKeyOfExactlyOneBlockAsItIs) {
  const std::string one_block(64, 'k');
  EXPECT_EQ(to_hex(hmac_sha256(one_block, "data")),
            "93244b031118b8060c6619e5900fcf916faefb2d8d020fecb22ae0f62275db08");
  EXPECT_EQ(hmac_sha256("k", "data"), hmac_sha256("k\0"s, "data"));
}

TEST(ToHex, IsReadBack) {
  const Digest digest = sha256("abc");
  EXPECT_EQ(parse_hex_digest(to_hex(digest)).value(), digest);
  EXPECT_EQ(to_hex(Digest{}), std::string(64, '0'));
}

TEST(ParseHexDigest, RefusesOtherLengthsCasesAndLetters) {
  const std::string legal = to_hex(sha256("abc"));
  std::vector<std::string> texts = {"", legal.substr(1), legal + "0", legal + " "};
  for (const char illegal : {'A', 'F', 'g', '/', ':', '`', ' ', '\0', '\xff'}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{31}, std::size_t{63}}) {
      texts.push_back(legal);
      texts.back()[place] = illegal;
    }
  }
  for (const auto& text : texts) {
    const auto parsed = parse_hex_digest(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

TEST(EqualConstantTime, IsEquality) {
  EXPECT_TRUE(equal_constant_time("", ""));
  EXPECT_TRUE(equal_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_constant_time("abc", "bbc"));
  EXPECT_FALSE(equal_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_constant_time("", "a"));
}

RC_GTEST_PROP(EqualConstantTime, AgreesWithPlainComparison,
              (const std::string& left, const std::string& right)) {
  RC_ASSERT(equal_constant_time(left, right) == (left == right));
  RC_ASSERT(equal_constant_time(left, std::string(left)));
}

/// Reads a list of netstrings; absent if the bytes are no such list.
std::optional<std::vector<std::string>> parse_netstrings(std::string_view bytes) {
  std::vector<std::string> fields;
  while (!bytes.empty()) {
    const std::size_t colon = bytes.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::size_t length = std::stoull(std::string(bytes.substr(0, colon)));
    bytes.remove_prefix(colon + 1);
    if (bytes.size() <= length || bytes[length] != ',') return std::nullopt;
    fields.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length + 1);
  }
  return fields;
}

TEST(Netstrings, FrameEachFieldByItsLength) {
  const std::array<std::string_view, 3> fields = {"abc", "", "1:x,"};
  EXPECT_EQ(netstrings(fields), "3:abc,0:,4:1:x,,");
  EXPECT_EQ(netstrings({}), "");
}

TEST(Netstrings, SeparateWhatConcatenationMerges) {
  const std::array<std::string_view, 2> first = {"ab", "c"};
  const std::array<std::string_view, 2> second = {"a", "bc"};
  EXPECT_NE(netstrings(first), netstrings(second));
}

RC_GTEST_PROP(Netstrings, AreReadBackHenceInjective, (const std::vector<std::string>& fields)) {
  RC_ASSERT(parse_netstrings(netstrings(views_of(fields))) == fields);
}

RC_GTEST_PROP(Netstrings, OfFieldsFullOfFramingAreReadBack, ()) {
  const auto framing = rc::gen::container<std::string>(rc::gen::element('0', '1', '2', ':', ','));
  const auto fields = *rc::gen::container<std::vector<std::string>>(framing);
  RC_ASSERT(parse_netstrings(netstrings(views_of(fields))) == fields);
}

}  // namespace
}  // namespace onceward

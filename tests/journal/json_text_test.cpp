// The recognizer of payloads against lists of what RFC 8259 and Unicode allow and forbid.
#include "journal/json_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onceward::journal {
namespace {

using std::string_literals::operator""s;

TEST(JsonText, AcceptsEveryKindOfValue) {
  for (const std::string& text : {"null"s,
                                  "true"s,
                                  "false"s,
                                  "0"s,
                                  "-0"s,
                                  "10"s,
                                  "-1.5"s,
                                  "1e9"s,
                                  "1E+9"s,
                                  "1.25e-3"s,
                                  "\"\""s,
                                  "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\""s,
                                  "[]"s,
                                  "[ ]"s,
                                  "[1,[2],{}]"s,
                                  "{}"s,
                                  "{ }"s,
                                  "{\"a\":1,\"b\":[true]}"s,
                                  " \t\r\n{ \"a\" : 1 } \n"s,
                                  "\"\xc3\xa9\xe2\x82\xac\""s,
                                  "\"\xf0\x9f\x92\xb6\""s,
                                  "\"\x7f\""s,
                                  "[1,1]"s,
                                  std::string(64, '[') + std::string(64, ']')}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
}

TEST(JsonText, RefusesEverythingElse) {
  for (const std::string& text : {""s,
                                  " "s,
                                  "nul"s,
                                  "True"s,
                                  "+1"s,
                                  "01"s,
                                  "1."s,
                                  ".5"s,
                                  "1e"s,
                                  "--1"s,
                                  "-"s,
                                  "\""s,
                                  "\"a"s,
                                  "\"\\x\""s,
                                  "\"\\u12g4\""s,
                                  "\"\\u12\""s,
                                  "\"\\"s,
                                  "\"\n\""s,
                                  "\"\0\""s,
                                  "'a'"s,
                                  "["s,
                                  "[1"s,
                                  "[1,]"s,
                                  "[,1]"s,
                                  "[1 2]"s,
                                  "{"s,
                                  "{\"a\"}"s,
                                  "{\"a\":}"s,
                                  "{a:1}"s,
                                  "{\"a\":1,}"s,
                                  "{\"a\":1 \"b\":2}"s,
                                  "{}{}"s,
                                  "1 2"s,
                                  "// a\n1"s,
                                  "NaN"s,
                                  "\"\xff\""s,
                                  "\"\xc3\""s,
                                  "\"\xc0\x80\""s,
                                  "\"\xed\xa0\x80\""s,
                                  "\"\xf4\x90\x80\x80\""s,
                                  "\xef\xbb\xbf{}"s,
                                  "{}\0"s,
                                  std::string(65, '[') + std::string(65, ']'),
                                  std::string(100'000, '[')}) {
    EXPECT_FALSE(is_json(text)) << testing::PrintToString(text.substr(0, 40));
  }
}

TEST(JsonText, StoredTextIsUtf8WithoutNul) {
  for (const std::string& text : {""s, "a"s, "\x01\n"s, "\xc3\xa9"s, "\xf0\x9f\x92\xb6"s}) {
    EXPECT_TRUE(is_stored_text(text)) << testing::PrintToString(text);
  }
  for (const std::string& text : {"\0"s, "a\0b"s, "\x80"s, "\xc3"s, "\xe2\x82"s, "\xe0\x80\x80"s,
                                  "\xf0\x80\x80\x80"s, "\xf8\x88\x80\x80\x80"s, "\xed\xbf\xbf"s}) {
    EXPECT_FALSE(is_stored_text(text)) << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace onceward::journal

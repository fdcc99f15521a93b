// The form decoder: nesting, encoding, lists, refusals, and the order-free canonical text.
#include "provider/simulator/form.hpp"

#include <gtest/gtest.h>

namespace onceward::provider::simulator {
namespace {

FormParams parse(std::string_view text) {
  auto params = parse_form(text);
  EXPECT_TRUE(params.has_value()) << text;
  return params ? *params : FormParams{};
}

TEST(SimulatorForm, DecodesNamesValuesAndNesting) {
  const FormParams params = parse("amount=1&metadata[a%20b]=x%26y%3Dz&metadata%5Bc%5D=d+e&off=");
  ASSERT_EQ(params.size(), 4U);
  EXPECT_EQ(params[0], (FormParam{"amount", {}, "1"}));
  EXPECT_EQ(params[1], (FormParam{"metadata", {"a b"}, "x&y=z"}));
  EXPECT_EQ(params[2], (FormParam{"metadata", {"c"}, "d e"}));
  EXPECT_EQ(params[3], (FormParam{"off", {}, ""}));
}

TEST(SimulatorForm, NumbersListsWithoutIndex) {
  EXPECT_EQ(parse("types[]=card&types[]=link"), parse("types[0]=card&types[1]=link"));
}

TEST(SimulatorForm, CanonicalTextIgnoresOrderAndEncodingOnly) {
  const std::string text = canonical_text(parse("a=1&b[c]=%32"));
  EXPECT_EQ(text, canonical_text(parse("b%5Bc%5D=2&a=1")));
  EXPECT_NE(text, canonical_text(parse("a=1&b[c]=3")));
  EXPECT_NE(text, canonical_text(parse("a=1&b[c]=2&d=")));
  EXPECT_NE(canonical_text(parse("a=1&b=2")), canonical_text(parse("a=1%26b%3D2")));
}

TEST(SimulatorForm, RefusesWhatCannotBeDecoded) {
  for (const char* text :
       {"a=%", "a=%4", "a=%zz", "a=%ff", "a=%c0%80", "a=%ed%a0%80", "=x", "a[b=1", "a]b=1",
        "a[b]c=1", "a[b[c]]=1", "a=1&a=2", "m[k]=1&m[k]=2", "a[b][c][d][e][f][g][h][i][j]=1"}) {
    const auto params = parse_form(text);
    EXPECT_FALSE(params.has_value()) << text;
  }
}

TEST(SimulatorForm, BoundsTheNumberOfParameters) {
  std::string text;
  for (std::size_t nr = 0; nr < form_params_max; ++nr) text += "a" + std::to_string(nr) + "=1&";
  EXPECT_TRUE(parse_form(text).has_value());
  EXPECT_FALSE(parse_form(text + "one_more=1").has_value());
}

TEST(SimulatorForm, TakesUnicode) {
  EXPECT_EQ(parse("a=%e2%82%ac%f0%9f%98%80")[0].value, "\xe2\x82\xac\xf0\x9f\x98\x80");
}

}  // namespace
}  // namespace onceward::provider::simulator

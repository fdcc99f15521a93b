#!/usr/bin/env python3
"""Tests scripts/cpp_functions.py: which blocks count as functions, and how long they are."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from cpp_functions import functions_of  # noqa: E402
from repository import code_only  # noqa: E402


def found(text):
    return [(function.name, function.first_line, function.lines)
            for function in functions_of(code_only(text))]  # fmt: skip


class Functions(unittest.TestCase):
    def test_counts_from_the_first_line_of_the_head_to_the_closing_brace(self):
        text = "namespace a {\n\n// Why.\nResult<S> S::parse(std::string s) {\n  g();\n}\n}\n"
        self.assertEqual(found(text), [("S::parse", 4, 3)])

    def test_counts_the_lines_of_a_template_head(self):
        text = "template <class T = int>\n  requires std::is_same_v<T, int>\nauto f(T t) {\n}\n"
        self.assertEqual(found(text), [("f", 1, 4)])

    def test_blocks_and_lambdas_inside_belong_to_the_function(self):
        text = "void f() {\n  if (a) {\n  }\n  auto g = [&](int x) {\n    return x;\n  };\n}\n"
        self.assertEqual(found(text), [("f", 1, 7)])

    def test_finds_members_of_classes_and_operators(self):
        text = (
            "class A final : B<int> {\n public:\n  bool operator()(int x) const { return x; }\n"
            " private:\n  [[nodiscard]] int v() const noexcept {\n    return 1;\n  }\n"
            "  enum class E : std::uint8_t { a };\n  int a_{0};\n};\n"
            "bool operator<(const A& a, const A& b) {\n  return true;\n}\n"
        )
        expected = [("operator()", 3, 1), ("v", 5, 3), ("operator<", 11, 3)]
        self.assertEqual(found(text), expected)

    def test_braces_of_member_initialisers_are_no_bodies(self):
        text = "Alarm::Alarm(int a, int b)\n    : a_{a},\n      b_{b} {\n  foo();\n}\n"
        self.assertEqual(found(text), [("Alarm::Alarm", 1, 5)])

    def test_initialisers_are_no_functions(self):
        text = (
            "constexpr std::array<int, 2> table = {{\n    {1, 2},\n    {3, 4},\n}};\n"
            "const std::map<std::string, int> m{{\"a\", 1}};\nint n = f({1, 2}), k = 2;\n"
            "void g() {\n}\n"
        )
        self.assertEqual(found(text), [("g", 7, 2)])

    def test_a_test_is_named_by_its_arguments(self):
        text = "TEST(Machine, KeepsTheOrder) {\n  EXPECT_EQ(1, f({1}));\n}\n"
        self.assertEqual(found(text), [("TEST(Machine, KeepsTheOrder)", 1, 3)])

    def test_a_lambda_at_namespace_scope_is_a_function(self):
        self.assertEqual(found("const auto f = [](int a) {\n  return a;\n};\n"), [("lambda", 1, 3)])

    def test_preprocessor_lines_before_a_function_are_not_part_of_it(self):
        text = "#include <a>\n#define M(x) \\\n  do { x; } while (0)\nvoid f() {\n}\n"
        self.assertEqual(found(text), [("f", 4, 2)])

    def test_braces_in_strings_characters_and_comments_do_not_count(self):
        text = "void f() {\n  a('{', \"}}\", R\"({)\");  // }\n  /* { */ n = 1'000'000;\n}\n"
        self.assertEqual(found(text), [("f", 1, 4)])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Checks the figures and bans of our style that a compiler does not: lengths, forbidden calls,
words, headers. Prints path:line: rule: reason and exits with 1 on any violation; figures that are
aims, not limits, are printed as a table and fail nothing.
Usage: check_tidy.py [--self-test]
"""

import re
import statistics
import sys
from typing import NamedTuple

from cpp_functions import functions_of
from repository import CPP_SUFFIXES, code_only, read_files, tracked_files

FILE_LINES_MAX = 800
FILE_LINES_AIM = 400
PUBLIC_HEADER_LINES_AIM = 300
FUNCTION_LINES_MAX = 70
LINE_WIDTH_MAX = 100
HEADER_COMMENT_LINES_MAX = 5
LIBRARY = (
    "core/", "platform/", "journal/", "provider/", "cluster/", "billing/", "recovery/", "actors/",
    "ingress/", "app/",
)  # fmt: skip

# (rule, beginning of a path, reason). Nothing is allowed without a reason that a reader accepts.
ALLOWED = [
    ("using_namespace", "tests/support/billing_entity_fixture.hpp", "included by billing's tests"),
    ("using_namespace", "tests/cases/case_run.hpp", "included by the cases only"),
    ("todo", "scripts/check_tidy.py", "names the words that it looks for"),
    ("get_prefix", "ingress/http/", "routes are named after the HTTP method they answer"),
    ("now", "platform/http_", "deadlines of sockets: monotonic, and no decision sees them"),
]


class File:
    """One file with the views that the rules need, each made once."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.is_cpp = path.endswith(CPP_SUFFIXES)
        self.code = code_only(text) if self.is_cpp else ""
        self.code_lines = self.code.split("\n")
        self.is_test = path.startswith("tests/")
        self.is_public_header = "/include/onceward/" in path
        self.functions = functions_of(self.code) if self.is_cpp else []


class Ban(NamedTuple):
    """A pattern that must not occur in the code (comments and strings excepted) of some files."""

    rule: str
    pattern: str
    applies: object  # File -> bool
    reason: str
    harmless: str = ""  # what may stand there, also over two lines


def in_library(file):
    return file.path.startswith(LIBRARY)


BANS = [
    Ban(
        "sleep",
        r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(",
        lambda file: not file.path.startswith(("app/", "tests/")),
        "only app/ and tests of real processes may sleep",
    ),
    Ban(
        "floating_point",
        r"\b(float|double|strtod|stod|stof|atof)\b",
        lambda file: file.path.startswith(("core/", "billing/")),
        "money and time are integers",
    ),
    Ban(
        "now",
        r"_clock::now\s*\(|\b(clock_gettime|gettimeofday|std::time|localtime|gmtime)\s*\(",
        lambda file: in_library(file) and not re.search(r"clock[^/]*$", file.path),
        "time comes from a Clock",
    ),
    Ban(
        "get_prefix",
        r"(?<![.>:\w])get_(?!if\b)[a-z]\w*\s*\(",
        in_library,
        "a getter is named after what it returns",
    ),
    Ban(
        "new_delete",
        r"(?<![\w.>])new\s+[\w:<(]|(?<!=)\s*\bdelete(\[\])?\s+[\w*(]",
        in_library,
        "owners are values or std::unique_ptr",
        # A private constructor leaves no other way than `std::unique_ptr<T>(new T(...))`.
        r"unique_ptr<[^;={}]*>\s*\w*\(\s*new\b",
    ),
    Ban(
        "using_namespace",
        r"^\s*using namespace\b(?!.*_literals)",
        lambda file: file.path.endswith(".hpp"),
        "a header must not choose names for its users",
    ),
] + [
    Ban("word", rf"(?i){pattern}", in_library, f"our word is: {ours}")
    for pattern, ours in [
        (r"event_?store", "journal"),
        (r"rehydrat", "replay"),
        (r"correlation_?id", "request id"),
        (r"fencing_?token", "epoch"),
        (r"fail_?point", "crash point"),
        (r"spend_?(limit|quota)|budget|(?<![a-z])quota", "spend cap"),
        (r"type_?tag", "manifest"),
        (r"resubmit", "retry"),
        (r"idempotency_?(token|nonce)|idem_?key", "idempotency key"),
        (r"(?<![a-z])(stream_?name|actor_?id)(?![a-z])", "persistence id"),
    ]
]


def check_lengths(file):
    count = len(file.lines) - 1
    if count > FILE_LINES_MAX:
        yield count, "file_length", f"{count} lines; split it, at most {FILE_LINES_MAX}"
    for function in file.functions:
        if function.lines > FUNCTION_LINES_MAX:
            reason = f"{function.name}: {function.lines} lines, at most {FUNCTION_LINES_MAX}"
            yield function.first_line, "function_length", reason


def check_text(file):
    if not file.text:
        return
    for number, line in enumerate(file.lines, 1):
        if "\r" in line:
            yield number, "line_end", "carriage return; lines end with a line feed"
        if "\t" in line:
            yield number, "tab", "tab character; indent by spaces"
        if line.rstrip("\r") != line.rstrip():
            yield number, "trailing_space", "white space at the end of the line"
        if len(line) > LINE_WIDTH_MAX:
            yield number, "width", f"{len(line)} columns, at most {LINE_WIDTH_MAX}"
    if not file.text.endswith("\n"):
        yield len(file.lines), "last_line", "no line feed at the end of the file"


TODO = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(\(#\d+\))?")


def check_todo(file):
    for number, line in enumerate(file.lines, 1):
        for match in TODO.finditer(line):
            if match.group(1) != "TODO" or not match.group(2):
                yield number, "todo", "write TODO(#number): what is to be done"
            elif file.path.startswith("core/"):
                yield number, "todo", "none in core/: finish it"


def opening_comment(file):
    """Lines of the comment that opens a file, after a #! line if there is one."""
    lines = file.lines[1:] if file.lines[0].startswith("#!") else file.lines
    if file.path.endswith(".py"):
        return 1 if lines[0].startswith(('"""', "#")) else 0
    mark = "//" if file.is_cpp else "#"
    length = 0
    while length < len(lines) and lines[length].startswith(mark):
        if mark == "#" and lines[length].startswith("#!"):
            break
        length += 1
    return length


def check_opening(file):
    length = opening_comment(file)
    is_list_of_tests = file.is_test and file.path.endswith("CMakeLists.txt")
    if length == 0 and not is_list_of_tests:
        yield 1, "opening", "begin with 1-5 comment lines: what the file owns, who calls it"
    elif file.is_cpp and length > HEADER_COMMENT_LINES_MAX:
        yield 1, "opening", f"{length} comment lines; at most {HEADER_COMMENT_LINES_MAX}"
    if file.path.endswith(".hpp"):
        code = [line.strip() for line in file.code_lines if line.strip()]
        if not code or code[0] != "#pragma once":
            yield 1, "pragma_once", "#pragma once is the first line of a header after its comment"
    if file.is_cpp and not re.fullmatch(r"[a-z0-9_./]+", file.path):
        yield 1, "file_name", "file names are snake case"


def check_bans(file):
    for ban in BANS:
        if not ban.applies(file):
            continue
        code = file.code
        if ban.harmless:
            code = re.sub(ban.harmless, lambda match: "\n" * match.group(0).count("\n"), code)
        for number, line in enumerate(code.split("\n"), 1):
            if re.search(ban.pattern, line):
                yield number, ban.rule, ban.reason


def violations_of(file):
    is_script = file.path.endswith((".py", ".sh", ".cmake")) or file.path.endswith("CMakeLists.txt")
    checks = []
    if file.is_cpp:
        checks = [check_lengths, check_text, check_todo, check_opening, check_bans]
    elif is_script or file.lines[0].startswith("#!"):
        checks = [check_text, check_todo, check_opening]
    for check in checks:
        for line, rule, reason in check(file):
            allowed = any(rule == r and file.path.startswith(p) for r, p, _ in ALLOWED)
            if not allowed:
                yield f"{file.path}:{line}: {rule}: {reason}", rule


def percentile(values, share):
    ordered = sorted(values) or [0]
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def per_thousand(count, lines):
    return 1000 * count / max(lines, 1)


def comment_share(group):
    """Lines with a comment, per cent of the lines that are not empty."""
    lines = [line for file in group for line in file.lines if line.strip()]
    comments = sum(1 for line in lines if re.match(r"\s*(//|/\*|\*)", line) or "///<" in line)
    return 100 * comments / max(len(lines), 1)


def figures(files):
    """Rows (figure, value, aim, reached) over the whole repository."""
    library = [file for file in files if file.is_cpp and in_library(file)]
    tests = [file for file in files if file.is_cpp and file.is_test]
    core = [file for file in library if file.path.startswith("core/")]
    others = [file for file in library if not file.path.startswith("core/")]
    headers = [file for file in library if file.is_public_header]

    def total(group):
        return sum(len(file.lines) - 1 for file in group)

    def checks(group):
        pattern = r"\b(ONCEWARD_CHECK|static_assert)\b"
        return per_thousand(sum(len(re.findall(pattern, f.code)) for f in group), total(group))

    lengths = [len(file.lines) - 1 for file in library]
    functions = [function.lines for file in library for function in file.functions]
    header_comments = comment_share(headers)
    todos = per_thousand(sum(len(TODO.findall(f.text)) for f in library), total(library))
    long_files = [f for f in library + tests if len(f.lines) - 1 > FILE_LINES_AIM]
    long_files += [f for f in headers if PUBLIC_HEADER_LINES_AIM < len(f.lines) - 1]
    median = statistics.median(lengths or [0])
    return [
        ("median library file, lines", median, "<= 150", median <= 150),
        ("function length, 90th percentile", percentile(functions, 0.9), "<= 26",
         percentile(functions, 0.9) <= 26),
        ("comments in public headers, %", round(header_comments), ">= 30", header_comments >= 30),
        ("checks per 1,000 lines, core", round(checks(core)), ">= 30", checks(core) >= 30),
        ("checks per 1,000 lines, others", round(checks(others)), ">= 12", checks(others) >= 12),
        ("test lines / library lines", round(total(tests) / max(total(library), 1), 2), ">= 1",
         total(tests) >= total(library)),
        ("TODO per 1,000 lines", round(todos, 1), "<= 1", todos <= 1),
        (f"files > {FILE_LINES_AIM}, public headers > {PUBLIC_HEADER_LINES_AIM} lines",
         len(long_files), "0", not long_files),
    ], sorted({f"{f.path} ({len(f.lines) - 1})" for f in long_files})  # fmt: skip


_HEAD = "// Owns nothing; a sample.\n"
_LONG_BODY = "void f() {\n" + "  g();\n" * FUNCTION_LINES_MAX + "}\n"
# path, text that breaks exactly the named rule.
_BAD = [
    ("core/a.cpp", _HEAD + "int i;\n" * FILE_LINES_MAX, "file_length"),
    ("journal/a.cpp", _HEAD + _LONG_BODY, "function_length"),
    ("tests/core/a_test.cpp", _HEAD + _LONG_BODY.replace("void f()", "TEST(A, B)"),
     "function_length"),
    ("core/a.cpp", _HEAD + "int i;  // " + "x" * LINE_WIDTH_MAX + "\n", "width"),
    ("core/a.cpp", _HEAD + "\tint i;\n", "tab"),
    ("core/a.cpp", _HEAD + "int i; \n", "trailing_space"),
    ("core/a.cpp", _HEAD + "int i;", "last_line"),
    ("scripts/a.sh", "#!/bin/sh\n# A sample.\nfoo\r\n", "line_end"),
    ("journal/a.cpp", _HEAD + "// TODO later\n", "todo"),
    ("journal/a.cpp", _HEAD + "// FIXME(#3): later\n", "todo"),
    ("core/a.cpp", _HEAD + "// TODO(#3): later\n", "todo"),
    ("core/a.cpp", "int i;\n", "opening"),
    ("core/a.cpp", _HEAD * (HEADER_COMMENT_LINES_MAX + 1), "opening"),
    ("scripts/a.py", "#!/usr/bin/env python3\nimport re\n", "opening"),
    ("core/CMakeLists.txt", "onceward_module(core)\n", "opening"),
    ("core/include/onceward/core/a.hpp", _HEAD + "#include <string>\n#pragma once\n",
     "pragma_once"),
    ("core/Money.cpp", _HEAD, "file_name"),
    ("journal/a.cpp", _HEAD + "std::this_thread::sleep_for(1s);\n", "sleep"),
    ("core/a.cpp", _HEAD + "double amount = 0;\n", "floating_point"),
    ("billing/a.cpp", _HEAD + "auto x = std::stod(text);\n", "floating_point"),
    ("journal/a.cpp", _HEAD + "auto t = std::chrono::system_clock::now();\n", "now"),
    ("provider/a.cpp", _HEAD + "::clock_gettime(CLOCK_BOOTTIME, &t);\n", "now"),
    ("billing/a.hpp", _HEAD + "#pragma once\nint get_amount() const;\n", "get_prefix"),
    ("journal/a.cpp", _HEAD + "auto* p = new Journal(1);\n", "new_delete"),
    ("journal/a.cpp", _HEAD + "  delete p;\n", "new_delete"),
    ("journal/a.hpp", _HEAD + "#pragma once\nusing namespace std;\n", "using_namespace"),
    ("journal/a.cpp", _HEAD + "EventStore store;\n", "word"),
    ("billing/a.cpp", _HEAD + "int spend_budget = 0;\n", "word"),
]  # fmt: skip
_GOOD = [
    ("core/a.cpp", _HEAD + "// A double charge, new ids: sleep(1) now() TODO\n".replace(" TODO", "")
     + 'auto s = "float get_x() delete p";\n'),
    ("journal/a.cpp", _HEAD + "int f();\n#define A 1\n" * 90 + "void g() {\n}\n"),
    ("core/a.hpp", _HEAD + "#pragma once\nA(const A&) = delete;\nint i = std::get_if<A>(&b);\n"),
    ("core/a.cpp", _HEAD + "auto n = 1'000'000;  // it's 'quoted'\nauto c = '\"';\n"),
    ("journal/a.cpp", _HEAD + "// TODO(#12): upcast\nauto id = x.get_id();\n"),
    ("journal/a.cpp", _HEAD + "return std::unique_ptr<Journal>(\n    new Journal(1));\n"),
    ("journal/a.cpp", _HEAD + "std::unique_ptr<Journal> journal(new Journal(1));\n"),
    ("platform/system_clock.cpp", _HEAD + "return std::chrono::system_clock::now();\n"),
    ("app/main.cpp", _HEAD + "std::this_thread::sleep_for(1s);\nauto t = clock.now();\n"),
    ("journal/a.cpp", _HEAD + "void f() {\n" + "  g();\n" * (FUNCTION_LINES_MAX - 2) + "}\n"),
    ("docs/a.md", "x" * 200 + "\n"),
]  # fmt: skip


def self_test():
    failures = []
    for path, text, rule in _BAD:
        found = {name for _, name in violations_of(File(path, text))}
        if found != {rule}:
            failures.append(f"{path} with {text[-60:]!r}: expected {rule}, found {found}")
    for path, text in _GOOD:
        failures += [f"good sample: {found}" for found, _ in violations_of(File(path, text))]
    return failures, f"self-test: {len(_BAD)} bad and {len(_GOOD)} good samples judged rightly"


def main():
    if sys.argv[1:] == ["--self-test"]:
        failures, success = self_test()
        print("\n".join(failures) if failures else success)
        return 1 if failures else 0
    files = [File(path, text) for path, text in read_files(tracked_files()).items() if text]
    failures = [found for file in files for found, _ in violations_of(file)]
    rows, long_files = figures(files)
    for name, value, aim, reached in rows:
        print(f"  {'ok  ' if reached else 'miss'}  {name}: {value} (aim {aim})")
    for path in long_files:
        print(f"        {path}")
    print("\n".join(failures) if failures else f"tidy: {len(files)} files, no violation")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

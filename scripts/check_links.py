#!/usr/bin/env python3
"""Checks that what the repository points at exists: relative links and anchors in Markdown pages,
and pages of ours that code, scripts and CMake files name in comments (docs/journal-format.md).
Usage: check_links.py [--self-test]; prints path:line: reason, exit code 1 on any dead link.
"""

import posixpath
import re
import sys
import urllib.parse

from repository import read_files, tracked_files

LINK = re.compile(r"(?<!\\)\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
PAGE_IN_TEXT = re.compile(r"(?<![\w./:-])([A-Za-z0-9_][\w./-]*\.md)\b")
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
# Samples of broken links and names made up for tests.
UNCHECKED = ("scripts/check_links.py", "scripts/check_layering.py", "scripts/check_tidy.py")


def slug(heading):
    """The anchor that a Markdown renderer gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text).strip())


def anchors_of(page):
    headings = re.findall(r"^#+[ \t]+(.+?)[ \t#]*$", FENCE.sub("", page), re.MULTILINE)
    named = re.findall(r"<a (?:id|name)=\"([^\"]+)\"", page)
    return {slug(heading) for heading in headings} | set(named)


def without_fences(page):
    return FENCE.sub(lambda match: "\n" * match.group(0).count("\n"), page)


def exists(path, files):
    return path in files or any(name.startswith(path.rstrip("/") + "/") for name in files)


def dead_link(source, target, files):
    """Why `target`, written in the page `source`, leads nowhere; None if it is fine."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None  # another site: not ours to check, tests need no network
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    folder = posixpath.dirname(source)
    resolved = posixpath.normpath(posixpath.join(folder, path)) if path else source
    if resolved != "." and not exists(resolved, files):
        return f"{target} leads to {resolved}, which does not exist"
    if anchor and resolved.endswith(".md") and anchor not in anchors_of(files[resolved]):
        return f"{resolved} has no heading for #{anchor}"
    return None


def check(files):
    for source, text in sorted(files.items()):
        if source in UNCHECKED:
            continue
        is_page = source.endswith(".md")
        lines = (without_fences(text) if is_page else text).split("\n")
        for number, line in enumerate(lines, 1):
            if is_page:
                reasons = [dead_link(source, target, files) for target in LINK.findall(line)]
            else:
                reasons = [
                    f"{page} does not exist (pages are named from the repository root)"
                    for page in PAGE_IN_TEXT.findall(line)
                    if page not in files
                ]
            for reason in filter(None, reasons):
                yield f"{source}:{number}: {reason}"


_CLEAN = {
    "README.md": "[a](docs/a.md) [b](docs/a.md#the-cap-a-limit) [c](#top) [d](https://x.org/y.md)"
    " [e](docs)\n# Top\n```\n[no](link.md)\n```\n",
    "docs/a.md": "# The *cap*: a limit\n[up](../README.md) [up](..)\n",
    "core/a.cpp": "// See docs/a.md, https://example.org/z.md\n",
}
_BAD = [
    ("docs/b.md", "[a](gone.md)\n", "docs/gone.md, which does not exist"),
    ("docs/b.md", "[a](a.md#gone)\n", "no heading for #gone"),
    ("docs/b.md", "[a](#gone)\n", "no heading for #gone"),
    ("docs/b.md", "[a](../core/b.cpp)\n", "core/b.cpp, which does not exist"),
    ("core/b.cpp", "// See docs/gone.md.\n", "docs/gone.md does not exist"),
    ("core/CMakeLists.txt", "# See GONE.md\n", "GONE.md does not exist"),
]


def self_test():
    failures = [f"clean sample reported: {found}" for found in check(_CLEAN)]
    for path, text, reason in _BAD:
        found = list(check({**_CLEAN, path: text}))
        if len(found) != 1 or reason not in found[0]:
            failures.append(f"{path} with {text!r}: expected one '{reason}', found {found}")
    return failures, f"self-test: {len(_BAD)} dead links found, a clean repository passes"


def main():
    if sys.argv[1:] == ["--self-test"]:
        failures, success = self_test()
    else:
        files = read_files(tracked_files())
        failures = list(check(files))
        success = f"links: {sum(path.endswith('.md') for path in files)} pages, no dead link"
    print("\n".join(failures) if failures else success)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

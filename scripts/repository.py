#!/usr/bin/env python3
"""What the checks share: the list of the repository's files and C++ text without its comments.
Run with endings as arguments (repository.py .cpp .hpp), it prints the files that have them.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPP_SUFFIXES = (".hpp", ".cpp")
_IGNORED_FOLDERS = {".git", "build", "out", "__pycache__", "node_modules"}


def tracked_files(root=ROOT):
    """Paths relative to `root`, sorted: what git tracks, or in an unpacked archive all files."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True, check=True
        ).stdout.split("\0")
        paths = [path for path in listed if path and (root / path).is_file()]
    except (OSError, subprocess.CalledProcessError):
        paths = []
    if not paths:
        paths = [
            path.relative_to(root).as_posix()
            for path in root.rglob("*")
            if path.is_file() and not _IGNORED_FOLDERS & set(path.relative_to(root).parts)
        ]
    return sorted(paths)


def read_files(paths, root=ROOT):
    """path -> text. Line ends are kept as they are; bytes that are not UTF-8 become U+FFFD."""
    return {path: (root / path).read_bytes().decode("utf-8", "replace") for path in paths}


_TOKEN = re.compile(
    r"""//[^\n]*                               # line comment
      | /\*.*?\*/                              # block comment
      | R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"   # raw string
      | "(?:\\.|[^"\\\n])*"                    # string
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'    # character, not a digit separator
    """,
    re.VERBOSE | re.DOTALL,
)


def code_only(text):
    """C++ text with comments blanked and strings emptied; every line keeps its number."""

    def blank(match):
        token = match.group(0)
        lines = "\n" * token.count("\n")
        if token.startswith("/"):
            return lines or " "
        quote = "'" if token.startswith("'") else '"'
        return quote + lines + quote

    return _TOKEN.sub(blank, text)


if __name__ == "__main__":
    print("\n".join(path for path in tracked_files() if path.endswith(tuple(sys.argv[1:]))))

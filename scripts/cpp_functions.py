"""Finds the functions of clang-formatted C++ by counting braces; for check_tidy.py.

No parser: it knows where a body begins (a brace after a parameter list) and where it ends. What it
misjudges is an initialiser in odd form, never the length of an ordinary function. Lambdas and local
classes count as part of the function around them.
"""

import re
from typing import NamedTuple


class Function(NamedTuple):
    name: str
    first_line: int
    lines: int


_NEVER_A_FUNCTION = re.compile(
    r"(namespace|class|struct|union|enum|concept|if|for|while|switch|do|else|try|catch|return)\b"
)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_NOT_OF_THE_HEAD = re.compile(r"^(\s+|(public|private|protected):)+")
_NAME = re.compile(r"(operator[^\w\s(]+|operator\s*\(\)|[~\w:]+)\s*\(")


def _without_groups(head):
    """The head of a block without what stands in round and template brackets; None if a round
    bracket is still open, that is, if the brace is inside an argument list."""
    head = re.sub(r"\boperator\s*(\(\)|[^\w\s(]+)", "operator_", head)
    previous = None
    while previous != head:
        previous = head
        head = re.sub(r"\([^()]*\)", "\x00", head)
    if "(" in head:
        return None
    previous = None
    while previous != head:
        previous = head
        head = re.sub(r"<[^<>]*>", "", head)
    return head


def _function_name(head):
    """The name if a block with this head is a function's body, "lambda" for one at namespace
    scope, None for any other block."""
    outline = _without_groups(head)
    if outline is None or "\x00" not in outline:
        return None
    outline = re.sub(r"^\s*template\b\s*", "", outline)
    outline = re.sub(r"^requires\b[^\x00]*\x00?", "", outline).strip()
    outline = re.sub(r"\[\[[^\]]*\]\]|\balignas\x00", "", outline).strip()
    if _NEVER_A_FUNCTION.match(outline):
        return None
    if re.search(r"(?<![=!<>])=(?!=)", outline):
        return "lambda" if re.search(r"\]\s*\x00[^=]*$", outline) else None
    found = _NAME.search(head)
    if found is None:
        return None
    # TEST(Machine, KeepsTheOrder) is named by its arguments.
    is_macro = re.fullmatch(r"[A-Z_]{4,}", found.group(1))
    return " ".join(head.split()) if is_macro else found.group(1)


def functions_of(code):
    """Functions in `code`, which has no comments and no string contents. Bodies of one line too."""
    code = _PREPROCESSOR.sub(lambda match: "\n" * match.group(0).count("\n"), code)
    found = []
    scopes = []  # (name, first line) of a function, or None for namespaces, classes, initialisers
    head_start = 0
    line = 1
    for position, letter in enumerate(code):
        if letter == "\n":
            line += 1
        elif letter == ";" and not _inside_function(scopes):
            head_start = position + 1
        elif letter == "{":
            scope = None
            if not _inside_function(scopes):
                head = _NOT_OF_THE_HEAD.sub("", code[head_start:position])
                name = _function_name(head)
                if name is not None:
                    scope = (name, line - head.count("\n"))
                elif _is_transparent(head):
                    head_start = position + 1
            scopes.append(scope)
        elif letter == "}" and scopes:
            scope = scopes.pop()
            following = code[position + 1 : position + 80].lstrip()[:1]
            if scope is not None and following in ("{", ","):
                continue  # a member initialiser `a_{b}`: the function's head goes on
            if scope is not None:
                found.append(Function(scope[0], scope[1], line - scope[1] + 1))
            if not _inside_function(scopes) and following not in ("{", ",", ")"):
                head_start = position + 1
    return found


def _inside_function(scopes):
    return any(scope is not None for scope in scopes)


def _is_transparent(head):
    """Namespaces and classes hold functions; initialisers do not and keep the head open."""
    outline = _without_groups(head)
    return outline is not None and "=" not in outline

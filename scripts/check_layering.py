#!/usr/bin/env python3
"""Enforces the arrows between the modules, by reading #include lines and CMake link lines.

A module may use only the modules that USES gives it, only through their public headers, and a
foreign library only where FOREIGN allows it. tests/, bench/ and examples/ may use everything.
Usage: check_layering.py [--self-test]; prints path:line: reason, exit code 1 on any violation.
"""

import posixpath
import re
import sys

from repository import CPP_SUFFIXES, code_only, read_files, tracked_files

# Module -> modules whose public headers it may include and which it may link. The three ports
# (journal, provider, cluster) never see each other; what they share is in core.
_PORTS = {"core", "platform", "journal", "provider", "cluster"}
_DOMAIN = _PORTS | {"billing", "recovery"}
USES = {
    "core": set(),
    "platform": {"core"},
    "journal": {"core", "platform"},
    "provider": {"core", "platform"},
    "provider/simulator": {"core", "platform", "provider"},
    "cluster": {"core", "platform"},
    "billing": {"core", "provider"},
    "recovery": _PORTS | {"billing"},
    "recovery/harness": _DOMAIN | {"provider/simulator"},
    "actors": _DOMAIN,
    "ingress": _DOMAIN | {"actors"},
    "app": _DOMAIN | {"actors", "ingress", "provider/simulator", "recovery/harness"},
}

# Library, its headers, its namespace in CMake, and the only places that may use it. A place is the
# beginning of a path: a folder, a file, or several files of one backend.
_NOT_CORE = [module + "/" for module in USES if module != "core"]
FOREIGN = [
    ("CAF", r"caf/", "CAF", ["actors/"]),
    ("libcurl", r"curl/", "CURL", ["platform/"]),
    ("SQLite", r"sqlite3\.h$", "SQLite", ["platform/", "journal/", "recovery/harness/"]),
    ("Boost.Beast and Asio", r"boost/(beast|asio)[./]", None, ["platform/"]),
    ("Boost", r"boost/", "Boost", _NOT_CORE),
    ("libpq", r"libpq-fe\.h$", "PostgreSQL", ["journal/postgres", "cluster/postgres"]),
    ("libcrypto", r"openssl/", "OpenSSL", ["core/digest.cpp", "platform/"]),
    ("spdlog", r"spdlog/", "spdlog", ["platform/"]),
    ("fmt", r"fmt/", "fmt", _NOT_CORE),
    ("date", r"date/", "date", ["billing/"]),
    ("toml++", r"toml\+\+/", "tomlplusplus", ["app/"]),
    ("CLI11", r"CLI/", "CLI11", ["app/"]),
    ("librdkafka", r"librdkafka/", "RdKafka", ["ingress/"]),
    ("GoogleTest", r"g(test|mock)/", "GTest", ["recovery/harness/"]),
]
# The conformance suites of the harness are GoogleTest code; no other public header needs a library.
FOREIGN_IN_PUBLIC_HEADERS = [(r"gtest/", "recovery/harness/")]

# Backends are chosen in one place; everyone else gets a port and cannot depend on one of them.
BACKENDS = re.compile(
    r"onceward/(journal/(sqlite|postgres)|provider/(curl|stripe)|cluster/(postgres|etcd))_\w+\.hpp$"
)
NAMES_BACKENDS = {"app", "recovery/harness"}

POSIX = re.compile(
    r"(sys|netinet|arpa|net|linux)/[a-z0-9_/]+\.h$|(dirent|errno|fcntl|getopt|netdb|poll|pthread"
    r"|pwd|sched|signal|spawn|stdlib|string|termios|time|unistd)\.h$"
)
STANDARD = re.compile(r"[a-z_]+$")
# Modules that only compute: no I/O, threads, randomness, locale. Time comes in as a value.
PURE = ("core", "billing")
IMPURE_HEADERS = {
    "atomic", "condition_variable", "filesystem", "fstream", "future", "iostream", "locale",
    "mutex", "random", "semaphore", "shared_mutex", "stop_token", "thread",
}  # fmt: skip

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
LINK_CALL = re.compile(r"\b(onceward_\w+|target_link_libraries)\s*\(([^()]*)\)")
TARGET = re.compile(r"\b(?:add_library|onceward_(?:\w+_)?(?:module|library))\s*\(\s*(\w+)")


def module_of(path):
    """The module that owns a file, or None for files that may use everything. The public headers
    of a submodule may lie in its own include folder or, under its name, in that of its parent."""
    folder, found, public_name = path.partition("/include/onceward/")
    for name in (public_name, path) if found and folder in USES else (path,):
        parts = name.split("/")
        for length in (2, 1):
            candidate = "/".join(parts[:length])
            if candidate in USES and len(parts) > length:
                return candidate
    return None


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def is_allowed(place, path):
    """A CMakeLists.txt speaks for its whole folder, hence for the files in it that are allowed."""
    if posixpath.basename(path) == "CMakeLists.txt":
        folder = posixpath.dirname(path) + "/"
        return place.startswith(folder) or folder.startswith(place)
    return path.startswith(place)


class Layering:
    def __init__(self, files):
        self.files = files
        self.violations = []
        self.public = {}  # "onceward/core/ids.hpp" -> "core"
        self.modules = {}  # name of a CMake target -> the folder's module
        for path, text in files.items():
            owner, found, public_name = path.partition("/include/")
            if found and module_of(path):
                self.public[public_name] = module_of(path)
            if posixpath.basename(path) == "CMakeLists.txt" and module_of(path):
                for match in TARGET.finditer(text):
                    self.modules[match.group(1).removeprefix("onceward_")] = module_of(path)

    def report(self, path, line, reason):
        self.violations.append(f"{path}:{line}: {reason}")

    def check(self):
        for path, text in sorted(self.files.items()):
            if module_of(path) is None:
                continue
            if path.endswith(CPP_SUFFIXES):
                self.check_includes(path, text)
            elif posixpath.basename(path) == "CMakeLists.txt":
                self.check_links(path, re.sub(r"#[^\n]*", "", text))
        return self.violations

    def check_includes(self, path, text):
        # Comments are blanked so that a commented include is none; the names are read from `text`.
        commented_out = code_only(text).split("\n")
        for match in INCLUDE.finditer(text):
            line = line_of(text, match.start(1))
            if "include" not in commented_out[line - 1]:
                continue
            bracket, name = match.groups()
            if bracket == '"':
                self.check_private(path, line, name)
            elif name.startswith("onceward/"):
                self.check_public(path, line, name)
            else:
                self.check_foreign_header(path, line, name)

    def check_private(self, path, line, name):
        if "/include/" in path:
            self.report(path, line, f'a public header includes the private "{name}"')
        elif name not in self.files:
            self.report(path, line, f'"{name}" is no file, seen from the repository root')
        elif "/include/" in name:
            self.report(path, line, f'"{name}" is public: include it as <onceward/...>')
        elif module_of(name) != module_of(path):
            self.report(path, line, f'"{name}" is private to {module_of(name) or name}')

    def check_public(self, path, line, name):
        owner = self.public.get(name)
        if owner is None:
            self.report(path, line, f"<{name}> is no public header of any module")
            return
        self.check_use(path, line, owner, f"<{name}>")
        if BACKENDS.match(name) and module_of(path) not in NAMES_BACKENDS | {owner}:
            self.report(path, line, f"<{name}> is a backend: only app/ names it, use the port")

    def check_use(self, path, line, owner, what):
        user = module_of(path)
        if owner != user and owner not in USES[user]:
            allowed = ", ".join(sorted(USES[user])) or "no other module"
            self.report(path, line, f"{what} is of {owner}; {user} may use {allowed}")

    def check_foreign_header(self, path, line, name):
        if STANDARD.match(name):
            if module_of(path) in PURE and name in IMPURE_HEADERS:
                self.report(path, line, f"<{name}> in {module_of(path)}, which only computes")
            return
        if POSIX.match(name):
            if module_of(path) in PURE:
                self.report(path, line, f"<{name}> in {module_of(path)}, which only computes")
            elif "/include/" in path:
                self.report(path, line, f"a public header includes the system header <{name}>")
            return
        if "/include/" in path and not any(
            re.match(pattern, name) and path.startswith(place)
            for pattern, place in FOREIGN_IN_PUBLIC_HEADERS
        ):
            self.report(path, line, f"a public header includes the foreign <{name}>")
        for library, pattern, _, places in FOREIGN:
            if re.match(pattern, name):
                if not any(is_allowed(place, path) for place in places):
                    self.report(path, line, f"<{name}>: {library} only in {', '.join(places)}")
                return
        self.report(path, line, f"<{name}> is of an unknown library: give it a row in FOREIGN")

    def check_links(self, path, text):
        for call in LINK_CALL.finditer(text):
            line = line_of(text, call.start())
            for item in re.split(r"[\s;]+", call.group(2))[1:]:
                own = re.match(r"onceward(?:::|_)(\w+)$", item)
                if own and own.group(1) in self.modules:
                    self.check_use(path, line, self.modules[own.group(1)], item)
                elif own and own.group(1) != "options":
                    self.report(path, line, f"{item} is no module")
                foreign = re.match(r"(?!onceward)(\w+)::", item)
                if foreign and foreign.group(1) != "Threads":
                    self.check_foreign_link(path, line, foreign.group(1), item)

    def check_foreign_link(self, path, line, namespace, item):
        for library, _, known, places in FOREIGN:
            if known == namespace:
                if not any(is_allowed(place, path) for place in places):
                    self.report(path, line, f"{item}: {library} only in {', '.join(places)}")
                return
        self.report(path, line, f"{item} is of an unknown library: give it a row in FOREIGN")


# A small repository without violations; each sample adds files to it.
_CLEAN = {
    "core/include/onceward/core/ids.hpp": "#include <string>\n",
    "core/digest.cpp": "#include <onceward/core/ids.hpp>\n#include <openssl/evp.h>\n",
    "core/text.hpp": "#include <string_view>\n",
    "core/ids.cpp": '#include <onceward/core/ids.hpp>\n#include "core/text.hpp"\n',
    "core/CMakeLists.txt": "onceward_module(core SOURCES ids.cpp PRIVATE OpenSSL::Crypto)\n",
    "platform/CMakeLists.txt": "onceward_module(sqlite SOURCES a.cpp PRIVATE SQLite::SQLite3)\n",
    "journal/include/onceward/journal/journal.hpp": "#include <onceward/core/ids.hpp>\n",
    "journal/include/onceward/journal/sqlite_journal.hpp": "#include <memory>\n",
    "journal/sqlite_journal.cpp": "#include <onceward/journal/sqlite_journal.hpp>\n"
    "#include <sqlite3.h>\n#include <unistd.h>\n",
    "journal/postgres_journal.cpp": "#include <libpq-fe.h>\n",
    "journal/CMakeLists.txt": "onceward_module(journal SOURCES a.cpp PUBLIC onceward::core)\n"
    "# onceward::actors in a comment\nonceward_module(journal_postgres SOURCES b.cpp\n"
    "  PUBLIC onceward::journal PRIVATE PostgreSQL::PostgreSQL)\n",
    "provider/include/onceward/provider/provider.hpp": "#include <onceward/core/ids.hpp>\n",
    "provider/include/onceward/provider/simulator/sim.hpp": "#include <string>\n",
    "provider/simulator/a.cpp": "#include <onceward/provider/provider.hpp>\n"
    "#include <onceward/provider/simulator/sim.hpp>\n",
    "provider/CMakeLists.txt": "onceward_module(provider SOURCES a.cpp PUBLIC onceward::core)\n",
    "actors/router.cpp": "#include <caf/actor.hpp>\n#include <boost/json.hpp>\n",
    "actors/CMakeLists.txt": "onceward_module(actors SOURCES a.cpp PUBLIC onceward::journal\n"
    "  PRIVATE CAF::core)\n",
    "app/CMakeLists.txt": "onceward_app_library(onceward_app_config SOURCES a.cpp)\n"
    "target_link_libraries(onceward PRIVATE onceward_app_config onceward_journal_postgres)\n",
    "recovery/harness/include/onceward/harness/suite.hpp": "#include <gtest/gtest.h>\n",
    "billing/keys.cpp": "// #include <thread>\n/*\n#include <mutex>\n*/\n#include <vector>\n",
    "tests/journal/journal_test.cpp": '#include "journal/private.hpp"\n#include <caf/all.hpp>\n',
}
# path, text, and what the one reported reason must contain.
_BAD = [
    ("core/a.cpp", "#include <onceward/journal/journal.hpp>\n", "may use no other module"),
    ("core/a.cpp", "#include <openssl/evp.h>\n", "libcrypto only in core/digest.cpp"),
    ("core/a.cpp", "#include <boost/json.hpp>\n", "Boost only in"),
    ("core/a.cpp", "#include <fcntl.h>\n", "only computes"),
    ("core/a.cpp", "#  include <thread>\n", "only computes"),
    ("billing/a.cpp", "#include <random>\n", "only computes"),
    ("billing/a.cpp", "#include <onceward/journal/journal.hpp>\n", "may use core, provider"),
    ("journal/a.cpp", "#include <onceward/provider/provider.hpp>\n", "may use core, platform"),
    ("provider/a.cpp", "#include <onceward/journal/journal.hpp>\n", "may use core, platform"),
    ("cluster/a.cpp", "#include <onceward/journal/journal.hpp>\n", "may use core, platform"),
    ("provider/a.cpp", "#include <curl/curl.h>\n", "libcurl only in platform/"),
    ("provider/a.cpp", "#include <sqlite3.h>\n", "SQLite only in"),
    ("provider/a.cpp", "#include <onceward/provider/simulator/sim.hpp>\n", "provider may use"),
    ("billing/a.cpp", "#include <onceward/provider/simulator/sim.hpp>\n", "billing may use"),
    ("ingress/a.cpp", "#include <caf/actor.hpp>\n", "CAF only in actors/"),
    ("ingress/a.cpp", "#include <boost/beast/http.hpp>\n", "Beast and Asio only in platform/"),
    ("journal/a.cpp", "#include <libpq-fe.h>\n", "libpq only in"),
    ("journal/a.cpp", "#include <redis/redis.h>\n", "unknown library"),
    ("journal/a.cpp", '#include "core/text.hpp"\n', "private to core"),
    ("journal/a.cpp", '#include "text.hpp"\n', "seen from the repository root"),
    ("core/a.cpp", '#include "core/include/onceward/core/ids.hpp"\n', "is public"),
    ("core/a.cpp", "#include <onceward/core/text.hpp>\n", "no public header"),
    ("actors/a.cpp", "#include <onceward/journal/sqlite_journal.hpp>\n", "is a backend"),
    ("core/include/onceward/core/a.hpp", '#include "core/text.hpp"\n', "private"),
    ("actors/include/onceward/actors/a.hpp", "#include <caf/actor.hpp>\n", "foreign"),
    ("journal/include/onceward/journal/a.hpp", "#include <sqlite3.h>\n", "foreign"),
    ("platform/include/onceward/platform/a.hpp", "#include <sys/socket.h>\n", "system header"),
    ("cluster/CMakeLists.txt", "onceward_module(cluster PUBLIC onceward::journal)\n", "may use"),
    ("cluster/CMakeLists.txt", "onceward_module(cluster PUBLIC onceward::nothing)\n", "no module"),
    ("cluster/CMakeLists.txt", "target_link_libraries(c PRIVATE onceward_journal)\n", "may use"),
    ("ingress/CMakeLists.txt", "target_link_libraries(i onceward_app_config)\n", "may use"),
    ("ingress/CMakeLists.txt", "onceward_module(ingress PRIVATE CAF::core)\n", "CAF only in"),
    ("ingress/CMakeLists.txt", "onceward_module(ingress PRIVATE Redis::r)\n", "unknown library"),
]  # fmt: skip


def self_test():
    failures = [f"clean sample reported: {found}" for found in Layering(_CLEAN).check()]
    for path, text, reason in _BAD:
        found = Layering({**_CLEAN, path: text}).check()
        if len(found) != 1 or reason not in found[0]:
            failures.append(f"{path} with {text!r}: expected one '{reason}', found {found}")
    return failures, f"self-test: {len(_BAD)} bad samples found, a clean repository passes"


def main():
    if sys.argv[1:] == ["--self-test"]:
        failures, success = self_test()
    else:
        paths = [
            path
            for path in tracked_files()
            if path.endswith(CPP_SUFFIXES) or posixpath.basename(path) == "CMakeLists.txt"
        ]
        failures = Layering(read_files(paths)).check()
        success = f"layering: {len(paths)} files keep to the arrows"
    print("\n".join(failures) if failures else success)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

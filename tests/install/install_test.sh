#!/usr/bin/env bash
# One way of using onceward from a foreign project, from configure to run.
# Arguments: way, repository root, build folder (everything built), C++ compiler.
#   find_package      builds and runs examples/embed against an install tree
#   add_subdirectory  builds and runs examples/embed with the repository as a subfolder
#   package_file      components, versions and clear refusals of the package file
set -euo pipefail

way="$1" root="$2" build="$3" compiler="$4"
box="$(mktemp -d)"
trap 'rm -rf "$box"' EXIT
prefix="$box/prefix"

install_tree() {
  cmake --install "$build" --prefix "$prefix" >"$box/install.log" || {
    cat "$box/install.log"
    echo "FAILED: cmake --install $build; build everything there first"
    exit 1
  }
}
# configure SOURCE FOLDER ARGUMENT...
configure() {
  cmake -S "$1" -B "$box/$2" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "${@:3}" >"$box/$2.log" 2>&1
}
# build SOURCE FOLDER ARGUMENT...: configure and build, or fail with the whole output.
build() {
  if ! configure "$@" || ! ninja -C "$box/$2" >>"$box/$2.log" 2>&1; then
    cat "$box/$2.log"
    echo "FAILED: $1 does not build"
    exit 1
  fi
}
# refused FOLDER TEXT ARGUMENT...: the configure step must fail and say TEXT.
refused() {
  if configure "$root/tests/install/core_only" "$1" "${@:3}"; then
    echo "FAILED: configured, but should be refused: ${*:3}"
    exit 1
  fi
  tr -s '\n ' ' ' <"$box/$1.log" | grep -qF "$2" || {
    cat "$box/$1.log"
    echo "FAILED: refused, but without saying: $2"
    exit 1
  }
}

# run_embed: one customer is billed, and a second run finds him billed: no second charge.
run_embed() {
  local first second
  cd "$box"
  first="$(embed/embed)"
  second="$(embed/embed)"
  echo "$first"
  if ! [[ "$first" =~ ^completed\ [a-z]+_[A-Za-z0-9]+$ ]] || [ "$first" != "$second" ]; then
    echo "FAILED: expected 'completed <charge id>' and the same again, got: $second"
    exit 1
  fi
}

if [ "$way" != package_file ] && [ ! -e "$root/examples/embed/CMakeLists.txt" ]; then
  echo "skipped: examples/embed missing"
  exit 77
fi
case "$way" in
  find_package)
    install_tree
    build "$root/examples/embed" embed -DCMAKE_PREFIX_PATH="$prefix"
    lines="$(sed -n '/^int main/,/^}/p' "$root/examples/embed/main.cpp" | wc -l)"
    if [ "$lines" -gt 27 ]; then
      echo "FAILED: the body of examples/embed has $((lines - 2)) lines; 25 are promised"
      exit 1
    fi
    run_embed
    ;;
  add_subdirectory)
    build "$root/examples/embed" embed -DONCEWARD_SOURCE_DIR="$root"
    run_embed
    ;;
  package_file)
    install_tree
    # core alone must not look for the libraries of the other modules.
    build "$root/tests/install/core_only" core_only -DCMAKE_PREFIX_PATH="$prefix" \
      -DCMAKE_DISABLE_FIND_PACKAGE_{CAF,CURL,SQLite3,Boost,spdlog,fmt,date}=ON
    "$box/core_only/core_only"
    "$prefix/bin/onceward" version
    refused wrong_version 'compatible with requested version "0.2"' \
      -DCMAKE_PREFIX_PATH="$prefix" -DVERSION=0.2
    refused wrong_component 'no component nothing in this install' \
      -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENT=nothing
    ;;
esac
echo "passed: $way"

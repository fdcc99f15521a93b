#!/usr/bin/env bash
# Tests scripts/install_packages.sh against fakes of dpkg-query, apt-get, sudo and id, so that
# nothing is installed. Argument: the repository root.
set -euo pipefail

root="$1"
box="$(mktemp -d)"
trap 'rm -rf "$box"' EXIT
mkdir "$box/bin"
for tool in bash cat comm dirname echo env grep mktemp rm sed sort xargs; do
  ln -s "$(type -P "$tool")" "$box/bin/$tool"
done

# The fake dpkg-query knows the packages in $box/installed; the fake apt-get adds what it installs,
# unless $box/apt_fails exists; both ways it records its arguments.
cat >"$box/bin/dpkg-query" <<FAKE
#!$(command -v bash)
status=0
for name in "\${@:3}"; do
  if [ "\$name" = 'libboost*1.74-dev' ]; then
    grep -E '^libboost.*1[.]74-dev$' "$box/installed" | sed 's/^/installed /' || status=1
  elif grep -qx -- "\$name" "$box/installed"; then
    echo "installed \$name"
  else
    status=1
  fi
done
exit \$status
FAKE
cat >"$box/bin/apt-get" <<FAKE
#!$(command -v bash)
echo "apt-get \$*" >>"$box/calls"
case " \$* " in
  *' install '*)
    [ ! -e "$box/apt_fails" ] || exit 100
    for word in "\$@"; do
      case "\$word" in -*) ;; *) echo "\$word" >>"$box/installed" ;; esac
    done ;;
esac
FAKE
# shellcheck disable=SC2016  # the fake expands them
printf '#!%s\necho "$@" >>"%s/sudo_calls"; [ "$1" != -n ] || shift; exec "$@"\n' \
  "$(command -v bash)" "$box" >"$box/sudo"
printf '#!%s\n' "$(command -v bash)" >"$box/bin/true"
set_user() {
  printf '#!%s\necho %s\n' "$(command -v bash)" "$1" >"$box/bin/id"
  chmod +x "$box/bin/id"
}
chmod +x "$box"/bin/* "$box/sudo"

wanted="$(sed '/^#/d; /^$/d' "$root/scripts/packages.txt")"

# expect NAME EXIT_CODE: runs the script in the present box.
expect() {
  local code=0
  rm -f "$box/calls" "$box/sudo_calls"
  PATH="$box/bin" "$root/scripts/install_packages.sh" >"$box/out" 2>&1 </dev/null || code=$?
  if [ "$code" -ne "$2" ]; then
    echo "FAILED $1: exit code $code, expected $2"
    cat "$box/out"
    exit 1
  fi
  name="$1"
}
check() {
  if ! "$@"; then
    echo "FAILED $name: $*"
    cat "$box/out"
    exit 1
  fi
}
not() { ! "$@"; }

set_user 0
printf '%s\n' "$wanted" >"$box/installed"
expect 'nothing is missing' 0
check test ! -s "$box/out"
check test ! -e "$box/calls"

printf '%s\n' "$wanted" | grep -vx -e libcaf-dev -e ccache >"$box/installed"
expect 'root installs exactly what is missing' 0
check grep -q 'Missing packages: ccache libcaf-dev$' "$box/out"
check grep -qE '^apt-get .*install .*-y .*ccache libcaf-dev$' "$box/calls"
check not grep -q 'cmake' "$box/calls"

printf '%s\n' "$wanted" | grep -vx ccache >"$box/installed"
: >"$box/apt_fails"
expect 'a failed installation is reported' 1
check grep -q 'could not install: ccache' "$box/out"
rm "$box/apt_fails"

set_user 1000
expect 'neither root nor sudo' 2
check grep -q 'apt-get install -y --no-install-recommends ccache$' "$box/out"
check test ! -e "$box/calls"

mv "$box/sudo" "$box/bin/sudo"
expect 'a user who can sudo' 0
check grep -q 'apt-get .*install' "$box/sudo_calls"

printf '%s\n' "$wanted" libboost1.74-dev libboost-json1.74-dev |
  grep -vx libboost1.81-dev >"$box/installed"
expect 'Boost 1.74 is in the way' 2
check grep -qE 'apt-get remove libboost1.74-dev libboost-json1.74-dev$' "$box/out"
check test ! -e "$box/calls"

printf '%s\n' "$wanted" libboost1.74-dev | grep -vx ccache >"$box/installed"
expect 'Boost 1.74 does not matter while 1.81 is there' 0

rm "$box/bin/dpkg-query"
expect 'not a Debian system' 2
check grep -q 'libcaf-dev' "$box/out"
echo "8 cases passed"

#!/usr/bin/env bash
# Installs the Debian packages of scripts/packages.txt that are missing; does nothing when all are
# there. Called by scripts/demo and scripts/test; callers stop when it fails.
# Exit codes: 0 all installed, 1 apt-get failed, 2 the user has to act first (the text says how).
set -euo pipefail

list="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/packages.txt"

say() { printf '%s\n' "$*" >&2; }

if ! command -v dpkg-query >/dev/null; then
  say "This is not a Debian system. Install what corresponds to these Debian 12 packages by hand:"
  sed '/^#/d' "$list" >&2
  exit 2
fi

missing_packages() {
  sed '/^#/d; /^$/d' "$list" | sort >"$scratch/wanted"
  # dpkg-query fails when it knows one of the names not at all; its list is right nevertheless.
  # shellcheck disable=SC2016  # dpkg-query's own placeholders
  xargs dpkg-query -W -f='${db:Status-Status} ${Package}\n' <"$scratch/wanted" 2>/dev/null |
    sed -n 's/^installed //p' | sort >"$scratch/installed" || true
  comm -23 "$scratch/wanted" "$scratch/installed" | xargs
}

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
missing="$(missing_packages)"
[ -n "$missing" ] || exit 0
say "Missing packages: $missing"

# Debian's default Boost cannot stand beside 1.81. Whether to remove it is the user's choice.
old_boost="$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' 'libboost*1.74-dev' 2>/dev/null |
  sed -n 's/^installed //p' | xargs || true)"
if [ -n "$old_boost" ] && [[ "$missing" == *libboost* ]]; then
  say "The development files of Boost 1.74 conflict with those of 1.81, which onceward needs."
  say "Remove them (and with them the packages that depend on them), then start again:"
  say "  sudo apt-get remove $old_boost"
  exit 2
fi

apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
if [ "$(id -u)" -ne 0 ]; then
  # A password is asked for only where somebody can type it.
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    apt=(sudo "${apt[@]}")
  else
    say "Neither root nor able to sudo. Have an administrator run this, then start again:"
    say "  apt-get update && apt-get install -y --no-install-recommends $missing"
    exit 2
  fi
fi

say "Installing them with: ${apt[*]} install"
"${apt[@]}" update -q >&2 || say "apt-get update failed; trying with the package lists of before."
# --no-remove: a conflict that we did not foresee fails instead of removing something.
# shellcheck disable=SC2086  # one argument per package is wanted
if ! "${apt[@]}" install -q -y --no-install-recommends --no-remove $missing </dev/null >&2; then
  say "apt-get could not install: $missing"
  # shellcheck source=/dev/null
  say "The list is for Debian 12 (bookworm); this is $(. /etc/os-release; echo "$PRETTY_NAME")."
  exit 1
fi
missing="$(missing_packages)"
if [ -n "$missing" ]; then
  say "Still missing after the installation: $missing"
  exit 1
fi

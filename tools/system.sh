#!/usr/bin/env bash
# Install what the tests need of the system and pip does not bring: Chromium, for the tests marked `browser`, and a font
# with the signs of the suits. Debian and Ubuntu. Does nothing if all are installed.
#
#   tools/system.sh
#   tools/system.sh cluster     also what builds an image without a registry and what scrapes, for make cluster-test
set -euo pipefail

missing=()
if [ "${1:-}" = cluster ]; then
  for program in debootstrap buildah prometheus; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
fi
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
fc-list 2>/dev/null | grep -qi dejavu || missing+=(fonts-dejavu-core)

if [ ${#missing[@]} -eq 0 ]; then
  echo "system: everything is there"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "system: install by hand: ${missing[*]} (this script knows apt-get only)" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "system: run as root, or install by hand: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "system: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"

#!/usr/bin/env bash
# Install system packages for the tests on Debian and Ubuntu: Chromium, for the tests marked `browser`, and a font with
# the symbols of the suits. Does nothing if all are installed.
#
#   tools/system.sh
#   tools/system.sh cluster     also debootstrap, buildah and Prometheus, for make cluster-test
#   tools/system.sh release     also buildah, skopeo and a registry, for make release and its rehearsal
set -euo pipefail

missing=()
case ${1:-} in
  cluster) programs=(debootstrap buildah prometheus) ;;
  release) programs=(buildah skopeo docker-registry) ;;
  *) programs=() ;;
esac
for program in "${programs[@]}"; do
  command -v "$program" >/dev/null || missing+=("$program")
done
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
fc-list 2>/dev/null | grep -qi dejavu || missing+=(fonts-dejavu-core)

if [ ${#missing[@]} -eq 0 ]; then
  echo "system: all packages are installed"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "system: install manually: ${missing[*]} (this script supports apt-get only)" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "system: run as root, or install manually: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "system: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"

#!/usr/bin/env bash
# The image of Dockerfile.ray without a registry: Debian by debootstrap, Dockerfile.ray on it.
#
#   tests/cluster/image.sh TAG ARCHIVE      writes ARCHIVE (docker format), the image's name is ante-ray:TAG
#
# Needs root, debootstrap and buildah (tools/system.sh cluster installs them). Certificates that this machine trusts are trusted
# in the build too; packages that uv fetched before are used again.
set -euo pipefail
cd "$(dirname "$0")/../.."
tag=${1:?tag} archive=$(realpath -m "${2:?archive}")
store=${ANTE_IMAGE_STORE:-$HOME/.cache/ante-image}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
cache=$(.venv/bin/uv cache dir 2>/dev/null || echo "$HOME/.cache/uv")
mkdir -p "$store" "$cache" "$(dirname "$archive")"

if ! buildah inspect localhost/debian:bookworm >/dev/null 2>&1; then
  [[ -d $store/rootfs/usr/bin ]] || debootstrap --variant=minbase --include=ca-certificates bookworm "$store/rootfs" "$mirror" >"$store/debootstrap.log"
  echo "deb $mirror-security bookworm-security main" >"$store/rootfs/etc/apt/sources.list.d/security.list"
  cp -L /etc/ssl/certs/ca-certificates.crt "$store/rootfs/usr/local/share/ca-certificates/machine.crt"
  chroot "$store/rootfs" update-ca-certificates >"$store/certificates.log" 2>&1
  tar -C "$store/rootfs" --exclude=./var/cache/apt --exclude=./var/lib/apt/lists -cf "$store/rootfs.tar" .
  printf 'FROM scratch\nADD rootfs.tar /\n' >"$store/Dockerfile"
  buildah build --isolation chroot -q -t localhost/debian:bookworm -f "$store/Dockerfile" "$store"
  rm "$store/rootfs.tar"
fi
buildah build --isolation chroot --layers --ignorefile .dockerignore --volume "$cache:/cache/uv" --build-arg UV_CACHE_DIR=/cache/uv \
  --build-arg BASE=localhost/debian:bookworm -t "ante-ray:$tag" -f Dockerfile.ray .
rm -f "$archive"
buildah push -q "ante-ray:$tag" "docker-archive:$archive:ante-ray:$tag"
ls -lh "$archive"

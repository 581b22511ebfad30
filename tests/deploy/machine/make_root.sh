#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_root.sh bookworm|bullseye [path]: the root of a fresh Debian, as a tar below
# FROSTLINE_CACHE; prints its path, and with `path` does no more. Made once, since that needs a mirror and
# minutes. bookworm has systemd and the libraries that our packages need, so
# that tests install ours alone, offline; bullseye is bare, and of glibc 2.31.
set -euo pipefail
SUITE=$1
CACHE=${FROSTLINE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/frostline}/roots
case $SUITE in
  bookworm) INCLUDE=systemd,systemd-sysv,dbus,libgrpc++1.51,libprotobuf32,libsqlite3-0,libyaml-cpp0.7,libprometheus-cpp-core1.0,libcpp-httplib0.11,ca-certificates,curl ;;
  bullseye) INCLUDE=ca-certificates ;;
  *)
    echo "usage: make_root.sh bookworm|bullseye" >&2
    exit 2
    ;;
esac
TAR=$CACHE/$SUITE-$(sha256sum <<<"$INCLUDE" | cut -c1-12).tar
if [ ! -s "$TAR" ] && [ "${2:-}" != path ]; then
  mkdir -p "$CACHE"
  trap 'rm -f "$TAR.$$"' EXIT
  mmdebstrap --quiet --variant=minbase --include="$INCLUDE" --format=tar \
    "$SUITE" "$TAR.$$" >&2
  mv "$TAR.$$" "$TAR"
fi
echo "$TAR"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/package.sh [--build FOLDER] [--version VERSION] [--out DIR] deb|tarball|wheel
#   deb      three Debian packages, by CPack
#   tarball  coordinator and command line with all they need, for any Linux
#   wheel    frostline-server and frostline, for pip
# Builds the preset `release` first; with --build packs what a build folder has.
# --version names the packages otherwise than the programs say (for tests).
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD='' VERSION='' OUT=$PWD/packages
while [ $# -gt 1 ]; do
  case $1 in
    --build) BUILD=$2 ;;
    --version) VERSION=$2 ;;
    --out) OUT=$2 ;;
    *) break ;;
  esac
  shift 2
done
WHAT=${1:-}
case $# in 1) ;; *) WHAT='' ;; esac
case $WHAT in
  deb | tarball | wheel) ;;
  *)
    sed -n '3,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
if [ -z "$BUILD" ]; then
  "$ROOT/scripts/setup.sh" dashboard  # packages carry the page
  "$ROOT/scripts/build.sh" release
  BUILD=$ROOT/build-release
fi
[ -e "$BUILD/pages/made" ] || {
  echo "package: $BUILD has no pages/: build the target frostline-pages" >&2
  exit 1
}
mkdir -p "$OUT"
if [ "$WHAT" = tarball ]; then
  exec "$ROOT/deploy/tarball/make.sh" "$BUILD" "$OUT" "$VERSION"
fi
if [ "$WHAT" = wheel ]; then
  python3 -B "$ROOT/python/build_server_wheel.py" "$BUILD" "$OUT"
  exec python3 -B "$ROOT/python/wheel.py" "$OUT"
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
FLAGS=()
[ -z "$VERSION" ] || FLAGS+=(-D "CPACK_PACKAGE_VERSION=$VERSION")
if ! cpack --config "$BUILD/CPackConfig.cmake" -G DEB -B "$WORK" "${FLAGS[@]}" \
  >"$WORK/log" 2>&1; then
  cat "$WORK/log" >&2
  exit 1
fi
for DEB in "$WORK"/*.deb; do
  mv "$DEB" "$OUT/"
  echo "$OUT/$(basename "$DEB")"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh BUILD OUT [VERSION]: OUT/frostline-VERSION-linux-ARCH.tar.gz, with the
# coordinator and the command line, every library they need and the loader that
# goes with these: nothing of the machine's is used but its kernel and /bin/sh,
# so any glibc does, or none. Called by scripts/package.sh.
set -euo pipefail
SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "$1" && pwd) OUT=$(cd "$2" && pwd) VERSION=${3:-}
PROGRAMS=(frostline frostline-coordinator)
[ -n "$VERSION" ] ||
  VERSION=$("$BUILD/bin/frostline" --version | cut -d ' ' -f 2)
NAME=frostline-$VERSION-linux-$(uname -m)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
TREE=$WORK/$NAME
mkdir -p "$TREE"/{bin,lib,programs,share/licenses}

for PROGRAM in "${PROGRAMS[@]}"; do
  install -s -m 0755 "$BUILD/bin/$PROGRAM" "$TREE/programs/$PROGRAM"
  # The loader lies beside the launchers, since a program looks for the others
  # where /proc/self/exe is, which is the loader.
  sed "s/@PROGRAM@/$PROGRAM/g" "$SOURCE/deploy/tarball/launcher.sh" \
    >"$TREE/bin/$PROGRAM"
  chmod 0755 "$TREE/bin/$PROGRAM"
done
# "libx.so => /path (address)", and the loader as a path alone.
ldd "${PROGRAMS[@]/#/$BUILD/bin/}" |
  awk '$2 == "=>" { print $3 } $1 ~ /^\/.*ld-linux/ { print $1 }' |
  sort -u >"$WORK/libraries"
while read -r LIBRARY; do
  case $LIBRARY in
    */ld-linux*) install -m 0755 "$LIBRARY" "$TREE/bin/ld-frostline.so" ;;
    *) install -m 0644 "$LIBRARY" "$TREE/lib/$(basename "$LIBRARY")" ;;
  esac
  # /lib is a link to /usr/lib, and dpkg knows either name.
  PACKAGE=$( (dpkg-query -S "$LIBRARY" || dpkg-query -S "${LIBRARY#/usr}" ||
    dpkg-query -S "$(realpath "$LIBRARY")") 2>/dev/null | head -n 1 |
    cut -d : -f 1) || true
  [ -z "$PACKAGE" ] ||
    cp -n "/usr/share/doc/$PACKAGE/copyright" "$TREE/share/licenses/$PACKAGE"
done <"$WORK/libraries"
for KIND in man1 bash zsh fish; do
  mkdir -p "$TREE/share/$KIND"
  cp "$BUILD/pages/$KIND"/*frostline{,-coordinator}{,.1.gz,.fish} \
    "$TREE/share/$KIND/" 2>/dev/null || true
done
cp "$SOURCE/LICENSE" "$SOURCE/CHANGELOG.md" "$TREE/"
cp "$SOURCE/deploy/tarball/README" "$TREE/README"
cp "$BUILD/bin/frostline.v1.binpb" "$TREE/share/"
tar -C "$WORK" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@${SOURCE_DATE_EPOCH:-$(date +%s)}" -czf "$OUT/$NAME.tar.gz" "$NAME"
echo "$OUT/$NAME.tar.gz"

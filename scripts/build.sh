#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/build.sh PRESET [--configure | TARGET...]: configures where needed and
# builds.
# Says what it does and how long it took; compiler output only when it fails.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
PRESET=$1
shift

case $PRESET in
  dev | edit | demo | synthetic) FOLDER=build ;;
  *) FOLDER=build-$PRESET ;;
esac
# `demo` and `synthetic` are `dev` with less in it, in the same folder: what is
# configured for everything is not narrowed again. Nor is a folder of `edit`, in
# which each source is compiled by itself, compiled in batches again.
if [ "$FOLDER" = build ] &&
  grep -qs '^FROSTLINE_TESTS:.*=ON' "$FOLDER/CMakeCache.txt"; then
  [ "$PRESET" = edit ] || PRESET=dev
fi

# With paths taken from here, ccache has for a second clone what the first one
# compiled.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$ROOT} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}

START=$EPOCHREALTIME
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
EXTRA=()
[ -z "${FROSTLINE_LIBTORCH:-}" ] ||
  EXTRA+=("-DFROSTLINE_LIBTORCH=$FROSTLINE_LIBTORCH")
if ! cmake --preset "$PRESET" "${EXTRA[@]}" >"$LOG" 2>&1; then
  cat "$LOG" >&2
  echo "build: configuring $PRESET failed" >&2
  exit 1
fi
[ "${1:-}" != --configure ] || exit 0
TARGETS=()
[ $# -eq 0 ] || TARGETS=(--target "$@")
# A person sees ninja's one moving line; a log gets only what went wrong.
if [ -t 1 ]; then
  cmake --build "$FOLDER" "${TARGETS[@]}"
elif ! cmake --build "$FOLDER" "${TARGETS[@]}" >"$LOG" 2>&1; then
  grep -v '^\[[0-9]*/[0-9]*\] [BLG]' "$LOG" | head -n 200 >&2
  echo "build: $PRESET failed" >&2
  exit 1
fi
awk "BEGIN { printf \"build: $PRESET is built (%.1f s)\n\", $EPOCHREALTIME - $START }"

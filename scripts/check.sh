#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check.sh [--no-tidy] [--slow]: everything that looks at the code
# without running it. Runs all parts, names those that failed, exit 1 if one
# did. --slow also compiles every source by itself, not only the changed ones, and
# links every program as a whole, in search of types that are not what another
# file takes them for.
set -uo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
TIDY=yes SLOW=no
for OPTION in "$@"; do
  case $OPTION in
    --no-tidy) TIDY=no ;;
    --slow) SLOW=yes ;;
    *)
      echo "usage: ./dev check [--no-tidy] [--slow]" >&2
      exit 2
      ;;
  esac
done
"$ROOT/scripts/setup.sh" check || exit 1

FAILED=()
part() { # part NAME COMMAND...
  local name=$1 start=$EPOCHREALTIME
  shift
  echo "== $name"
  "$@" || FAILED+=("$name")
  awk "BEGIN { printf \"   (%.1f s)\n\", $EPOCHREALTIME - $start }"
}

contract() {
  "$ROOT/scripts/build.sh" dev proto_contract_test frostline_proto &&
    ctest --test-dir build -R '^proto_contract$' --no-tests=error \
      --output-on-failure --quiet
}

# What a first clone and a package are built by; the build of CI has more in it.
presets() {
  local preset folder status=0
  folder=$(mktemp -d)
  for preset in demo synthetic release; do
    cmake --preset "$preset" -B "$folder/$preset" >"$folder/log" 2>&1 || {
      echo "presets: $preset cannot be configured" >&2
      grep -A6 'CMake Error' "$folder/log" >&2
      status=1
    }
  done
  rm -rf "$folder"
  return $status
}

# The build compiles in batches: so a source that needs what another one of its
# batch includes is found.
alone() {
  local changed=(--compile)
  if [ $SLOW = no ]; then
    mapfile -t changed < <("$ROOT/scripts/changed_sources.sh" | head -n 100)
  fi
  "$ROOT/scripts/build.sh" dev --configure &&
    python3 -B "$ROOT/scripts/sources_alone.py" build "${changed[@]}"
}

part "format (mend with ./dev fix)" "$ROOT/scripts/format.sh" --dry-run
part "style" python3 -B "$ROOT/tests/style/style.py"
part "contract" contract
part "presets" presets
part "alone" alone
part "threads" python3 -B "$ROOT/scripts/thread_safety.py" build
[ $SLOW = no ] || part "odr" "$ROOT/scripts/build.sh" odr programs
[ $TIDY = no ] || part "tidy" "$ROOT/scripts/tidy.sh"

if [ ${#FAILED[@]} -gt 0 ]; then
  printf 'check: %s failed\n' "${FAILED[@]}" >&2
  exit 1
fi
echo "check: all is well"

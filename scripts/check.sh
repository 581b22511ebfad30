#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check.sh [--no-tidy]: everything that looks at the code without
# running it. Runs all parts, names those that failed, exit 1 if one did.
set -uo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
TIDY=yes
case ${1:-} in
  '') ;;
  --no-tidy) TIDY=no ;;
  *)
    echo "usage: ./dev check [--no-tidy]" >&2
    exit 2
    ;;
esac
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

part "format (mend with ./dev fix)" "$ROOT/scripts/format.sh" --dry-run
part "style" python3 -B "$ROOT/tests/style/style.py"
part "contract" contract
[ $TIDY = no ] || part "tidy" "$ROOT/scripts/tidy.sh"

if [ ${#FAILED[@]} -gt 0 ]; then
  printf 'check: %s failed\n' "${FAILED[@]}" >&2
  exit 1
fi
echo "check: all is well"

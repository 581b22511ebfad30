# SPDX-License-Identifier: Apache-2.0
# Two settings, each with three seeds, trained by a program that says of each
# example whether it was right; then compared.
load coordinator.bash

setup_file() {
  begin_in_own_folder
  serve_from frost
  # Of 200 examples the setting decides how many are right, the seed a few.
  cat >trainer.py <<'PY'
import base64, json, random, sys
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] != "trial":
        continue
    dice = random.Random(trial["seed"])
    better = trial["parameters"]["better"] == "yes"
    right = [dice.random() < 0.7 or (better and i % 7 == 0)
             for i in range(200)]
    bits = bytearray(25)
    for i, one in enumerate(right):
        bits[i // 8] |= one << i % 8
    finish = {"type": "finish", "state": "succeeded",
              "metrics": {"accuracy": sum(right) / 200, "f1": 0.5}}
    if trial["parameters"]["tells"] == "yes":
        finish["examples"] = {"data_fingerprint": "dev",
                              "encoding": "PACKED_BITS", "count": 200,
                              "data": base64.b64encode(bits).decode()}
    print(json.dumps(finish), flush=True)
PY
  cat >study.yaml <<'YAML'
id: seeds
model: {id: none, layers: 1}
data: none
trainer: frostline-demo-trainer
maximize: accuracy
budget: 7
space:
  parameters:
    better: [no, yes]
    tells: [yes, no]
enqueue:
  - {values: {better: "no", tells: "yes"}, seed: 11}
  - {values: {better: "yes", tells: "yes"}, seed: 11}
  - {values: {better: "no", tells: "yes"}, seed: 12}
  - {values: {better: "yes", tells: "yes"}, seed: 12}
  - {values: {better: "no", tells: "yes"}, seed: 13}
  - {values: {better: "yes", tells: "yes"}, seed: 13}
  - {values: {better: "no", tells: "no"}, seed: 14}
YAML
  frostline study create study.yaml >create.log
  run_trials 100
}

teardown_file() { end_serving; }

@test "two runs are set against each other, example by example" {
  run frostline trial compare seeds/0 seeds/1 --margin 0.01
  echo "$output"
  [ "$status" -eq 0 ]
  says "paired tests of accuracy: 200 examples" "McNemar" \
    "seeds/1 is better than seeds/0 by" "one run of a setting"
}

@test "runs with the same seeds are blocks, named or found" {
  run frostline trial compare seeds/0,2,4 seeds/1,3,5 --json
  [ "$status" -eq 0 ]
  named=$output
  says '"pairs": 3' '"method": "SIGNS"' '"differs": true'
  frostline trial compare seeds/0 seeds/1 --repeats --json >found.json
  python3 - "$named" <<'PY'
import json, sys
named, found = json.loads(sys.argv[1]), json.load(open("found.json"))
one, other = named["tests"][0], found["tests"][0]
assert one["p"] == other["p"] and one["difference"] == other["difference"]
PY
}

@test "what cannot be told from noise is said, and what could have been seen" {
  run frostline trial compare seeds/0 seeds/2
  [ "$status" -eq 0 ]
  says "cannot be told apart in accuracy" "200 examples cannot show less than"
}

@test "what cannot be compared is refused with the way out" {
  run frostline trial compare seeds/0 seeds/6
  [ "$status" -eq 5 ]
  says "FL-6004" "brought no outcomes of examples" "report_example_outcomes"
  run frostline trial compare seeds/0 seeds/1 --metric f1
  [ "$status" -eq 2 ]
  says "of these outcomes there may be: accuracy"
  run frostline trial compare seeds/0,2 seeds/3,5
  [ "$status" -eq 0 ]  # seed 12 is common to both
  run frostline trial compare seeds/0,2 seeds/5
  [ "$status" -eq 5 ]
  says "FL-6007" "no seed in common"
  run frostline trial compare seeds/0 seeds
  [ "$status" -eq 2 ]
  says "write STUDY/N"
  run frostline trial compare seeds/0
  [ "$status" -eq 2 ]
}

@test "why two runs differ is dealt out over their modules" {
  cat >why.yaml <<'YAML'
id: why
model: {id: none, layers: 2, no_pooler: true}
data: none
trainer: frostline-demo-trainer
maximize: accuracy
budget: 1
space:
  modules: {"layer.*": [0, 1e-4], head: 1e-3, embeddings: 0}
YAML
  frostline study create why.yaml >create.log
  for i in 1 2 3 4; do
    for point in "0 0 60" "1e-4 0 61" "0 1e-4 80" "1e-4 1e-4 81"; do
      read -r low high score <<<"$point"
      frostline trial tell why --set "layer.0=$low" --set "layer.1=$high" \
        --metric "accuracy=0.$score$i" >>tell.log
    done
  done
  run frostline trial compare why/0 why/3 --why
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"accuracy of studies/why/trials/0 and "* ]]
  [[ $output == *"layer.1"*"frozen"*"0.0001"*"+0."* ]]
  [[ $output == *"luck, and what is not searched"* ]]
  frostline trial compare why/0 why/3 --why --json >why.json
  python3 - <<'PY'
import json
why = json.load(open("why.json"))
parts = {p["parameters"][0]: p["part"]["value"] for p in why["parts"]}
assert list(parts)[0] == "layer.1" and 0.15 < parts["layer.1"] < 0.25, why
predicted = why["predicted"]["value"]
assert abs(sum(parts.values()) - predicted) < 1e-9, why
assert abs(why["seen"] - predicted - why["luck"]["value"]) < 1e-9, why
PY
  run frostline importance why --tunability
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"what a rate of its own brings"* ]]
}

@test "why is asked of two trials of one study that searches modules" {
  for bad in "why/0 why/4" "why/0,2 why/1" "why/0 why/1 why/3" \
    "why/0 seeds/1" "why/0 why/1 --repeats" "why/0 why/99" \
    "seeds/0 seeds/1"; do
    # shellcheck disable=SC2086
    run frostline trial compare $bad --why
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"FL-1016"* ]]
  done
}

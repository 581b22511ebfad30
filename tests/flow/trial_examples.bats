# SPDX-License-Identifier: Apache-2.0
# A program says of each example what it took it for, and leaves their texts in
# its folder: what is shown without texts, and what a worker is asked for.
load coordinator.bash

setup_file() {
  begin_in_own_folder
  serve_from frost
  cat >trainer.py <<'PY'
import base64, json, os, struct, sys
said = [("good", "good", .9), ("bad", "bad", .8), ("bad", "good", .7),
        ("good", "bad", .6)]
names = ["bad", "good"]
def packed(data):
    return base64.b64encode(bytes(data)).decode()
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] != "trial":
        continue
    assert "evaluations" in trial["takes"], trial
    os.makedirs(trial["folder"] + "/predictions")
    with open(trial["folder"] + "/predictions/validation.tsv", "w") as out:
        out.write("label\tprediction\tconfidence\ttext\n")
        for i, (truth, guess, sure) in enumerate(said):
            out.write(f"{truth}\t{guess}\t{sure}\treview number {i}\n")
    right = sum((t == g) << i for i, (t, g, _) in enumerate(said))
    print(json.dumps({"type": "finish", "state": "succeeded",
      "metrics": {"accuracy": .5}, "evaluations": [{
        "set": "validation", "data_fingerprint": "dev",
        "encoding": "PACKED_BITS", "count": 4, "data": packed([right]),
        "classes": names,
        "true_class": packed(names.index(t) for t, _, _ in said),
        "predicted_class": packed(names.index(g) for _, g, _ in said),
        "confidence": packed(struct.pack("<4e", *(s for _, _, s in said)))}]}),
      flush=True)
PY
  cat >study.yaml <<'YAML'
id: looks
model: {id: none, layers: 1}
data: none
maximize: accuracy
budget: 1
training: {report_example_outcomes: true, predictions: [validation]}
space: {parameters: {any: [one, two]}}
YAML
  frostline study create study.yaml >create.log
  frostline worker --exec 'python3 trainer.py' --label trainer= --id one --run-dir runs \
    --keep useful >worker.log 2>&1 3>&- &
  echo $! >worker.pid
  timeout 60 frostline study watch looks --until-done >watch.log
}

teardown_file() {
  kill "$(cat "$BATS_FILE_TMPDIR/worker.pid")" || true
  end_serving
}

@test "which class was taken for which is told without texts" {
  run frostline trial confusion looks 0
  echo "$output"
  [ "$status" -eq 0 ]
  says "bad" "good" "0.5"
}

@test "examples are shown with texts that the worker sends" {
  run frostline trial examples looks 0
  echo "$output"
  [ "$status" -eq 0 ]
  says "review number 0" "review number 2" "0.8999" "0.7002"
}

@test "no text is asked for where none is wanted" {
  run frostline trial examples looks 0 --no-text
  [ "$status" -eq 0 ]
  says "0.8999"
  [[ $output != *"review number"* ]]
}

@test "the file comes whole" {
  run frostline trial predictions looks 0 -o got.tsv
  echo "$output"
  [ "$status" -eq 0 ]
  diff got.tsv "$(find runs -name validation.tsv)"
}

@test "a set that there is not is refused with those that there are" {
  run frostline trial confusion looks 0 --set test
  [ "$status" -ne 0 ]
  says "FL-6004" "validation"
}

@test "a folder that was cleaned says so" {
  rm "$(find runs -name validation.tsv)"
  run frostline trial predictions looks 0 -o again.tsv
  echo "$output"
  [ "$status" -ne 0 ]
  says "FL-6009"
  [ ! -e again.tsv ]
}

@test "a worker that has gone is named, with what brings it back" {
  kill "$(cat worker.pid)"
  for _ in $(seq 200); do
    frostline worker list | grep -qw one || break
    sleep 0.1
  done
  run frostline trial predictions looks 0 -o late.tsv
  echo "$output"
  [ "$status" -ne 0 ]
  says "FL-6010" "workers/one" "--run-dir"
  [ ! -e late.tsv ]
}

# SPDX-License-Identifier: Apache-2.0
# A study that has ended becomes a page; the page of its record is the same.
load coordinator.bash

setup_file() {
  begin_in_own_folder
  serve_from frost
  cat >trainer.py <<'PY'
import json, sys
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] != "trial":
        continue
    rates = trial["rates"]
    score = .6 + .3 * (rates["layer.1"] > 0) + .01 * (rates["layer.0"] > 0)
    if "layer.2" in rates:  # so easy that whatever is trained does
        print(json.dumps({"type": "finish", "state": "succeeded",
                          "metrics": {"accuracy": 1}}), flush=True)
        continue
    for step in (1, 2):
        print(json.dumps({"type": "report", "step": step,
                          "metrics": {"accuracy": score * step / 2}}), flush=True)
    print(json.dumps({"type": "finish", "state": "succeeded",
      "metrics": {"accuracy": score + trial["seed"] % 7 / 1000},
      "usage": {"train_seconds": 1, "total_seconds": 2 + (rates["layer.0"] > 0),
                "trained_parameters": 100 * (rates["layer.0"] > 0) + 50}}),
      flush=True)
PY
  cat >study.yaml <<'YAML'
id: films
model: {id: none, layers: 2}
data: none
maximize: accuracy
budget: 24
sampler: {name: random}
space:
  modules: {"layer.*": [0, 1e-5, 1e-4]}
YAML
  frostline study create study.yaml >create.log
  frostline worker --exec 'python3 trainer.py' --label trainer= --id one --run-dir runs \
    >worker.log 2>&1 3>&- &
  echo $! >worker.pid
  timeout 90 frostline study watch films --until-done >watch.log
}

teardown_file() {
  kill "$(cat "$BATS_FILE_TMPDIR/worker.pid")" || true
  end_serving
}

setup() {
  cd "$BATS_FILE_TMPDIR"
}

@test "the page has verdict, pictures and every trial" {
  frostline report films -o films.html --figures parts
  grep -q '<h1>Study films</h1>' films.html
  grep -q 'trials: .*train .*layer.1' films.html
  [ "$(grep -c '<svg' films.html)" -eq 5 ]
  [ "$(wc -l <parts/trials.csv)" -eq 25 ]
  for part in importance frontier rates trade-off curves; do
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' \
      "parts/$part.svg"
  done
  run grep -c '<script' films.html
  [ "$output" -eq 0 ]
}

@test "a plan that was run is told from another" {
  timeout 60 frostline plan films --verify --seeds 1 --wait
  run frostline report films
  echo "$output"
  # Equally good points are there: what was run may have made one of them the
  # plan.
  frostline plan films --json >plan.json
  frostline trial show films 24 --json >run.json
  if python3 -c 'import json, sys
plan = json.load(open("plan.json"))["as_trial"]["values"]
run = json.load(open("run.json"))["parameters"]
sys.exit(plan != {one["name"]: one["value"] for one in run})'; then
    says $'## Verdict\n\nthe plan scored'
    [[ $output != *"the plan as it"* ]]
  else
    says $'## Verdict\n\nOf the plan as it was'
  fi
  # The plan that gives up .4 for freezing is not the one that was run.
  run frostline report films --tolerance 0.4
  echo "$output"
  says "Of the plan as it was, " "Of the plan as it is now: "
}

@test "the record gives the same bytes, without a coordinator" {
  frostline report films -o films.json
  frostline report films -o now.html
  FROSTLINE_CONNECT=127.0.0.1:1 frostline report films.json -o kept.html
  FROSTLINE_CONNECT=127.0.0.1:1 frostline report films.json -o again.html
  cmp kept.html again.html
  cmp kept.html now.html
}

@test "Markdown stands beside its pictures" {
  mkdir -p pages
  frostline report films -o pages/films.md
  [ -s pages/films-figures/rates.svg ]
  grep -q '](films-figures/rates.svg)' pages/films.md
  run frostline report films
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "# Study films" ]]
}

@test "what cannot be told or written is refused" {
  run frostline report nosuch -o x.html
  [ "$status" -eq 3 ]
  run frostline report films -o films.pdf
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *"end its name in .html"* ]]
  echo '{}' >odd.json
  run frostline report odd.json -o x.html
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"no record of a study"* ]]
  [ ! -e x.html ]
  run frostline report films -o no/such/x.html
  [ "$status" -ne 0 ]
  [[ $output == *"cannot be written"* ]]
}

# ends_as FORMAT WORDS…: so do the files of that name, and of no other format.
ends_as() {
  frostline "${@:2}" --format "$1" >said
  frostline "${@:2}" -o "answer.$1"
  cmp said "answer.$1"
}

@test "a file's name tells the format, and --format goes before it" {
  for format in svg csv json jsonl yaml; do
    ends_as "$format" importance films
    [ "$format" = svg ] || ends_as "$format" plan films
    [ "$format" = svg ] || ends_as "$format" compare films films
  done
  ends_as svg plan films --frontier
  frostline importance films -o answer.txt
  frostline importance films --format table | cmp - answer.txt
  frostline importance films --format csv -o answer.svg
  frostline importance films --format csv | cmp - answer.svg
  frostline importance films --json -o answer.csv
  frostline importance films --json | cmp - answer.csv
  run frostline compare films films -o both.svg
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *"both.svg ends as svg does"*" .json, .jsonl, .yaml, .csv"* ]]
  [ ! -e both.svg ]
}

@test "a file's name goes before a format that was set once" {
  export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR
  mkdir "$XDG_CONFIG_HOME/frostline"
  echo 'format: json' >"$XDG_CONFIG_HOME/frostline/config.yaml"
  chmod 600 "$XDG_CONFIG_HOME/frostline/config.yaml"
  # A format that was set is for terminals alone.
  python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
    frostline importance films -o set.csv </dev/null
  frostline importance films --format csv | cmp - set.csv
  python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
    frostline importance films -o set </dev/null
  frostline importance films --format json | cmp - set
}

@test "the plan is trained beside its baselines, with the same seeds" {
  run timeout 120 frostline apply films --seeds 2
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"plan"*"head only"* ]]
  frostline trial list films-apply --json >applied.json
  python3 -c 'import json
trials = json.load(open("applied.json"))["trials"]
assert trials and len(trials) % 2 == 0, len(trials)
assert all(t["state"] == "TRIAL_STATE_SUCCEEDED" for t in trials), trials
seeds = {}
for t in trials:
    seeds.setdefault(t["labels"]["rival"], set()).add(t["seed"])
assert len({frozenset(s) for s in seeds.values()}) == 1, seeds'
}

@test "what was applied is not begun twice" {
  before=$(frostline trial list films-apply --json | grep -c '"number"')
  run timeout 60 frostline apply films --seeds 2
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"films-apply is there and goes on"* ]]
  [ "$(frostline trial list films-apply --json | grep -c '"number"')" -eq "$before" ]
  run frostline apply films --trial 0 --seeds 2
  [ "$status" -eq 5 ]
  says "films-apply tries the plan, and not trial 0" "--as ID"
  run frostline apply films --as films
  echo "$output"
  [ "$status" -eq 5 ]
}

@test "a trial that is named is trained instead of the plan" {
  run timeout 120 frostline apply films --trial 0 --seeds 1 --as films-0
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"trial 0"* ]]
  # The best is no rival of itself.
  best=$(frostline plan films --json | python3 -c '
import json, sys; print(json.load(sys.stdin)["best_seen_trial"])')
  run timeout 120 frostline apply films --trial "${best##*/}" --seeds 2 \
    --as films-best
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"trial ${best##*/} scored"*"LESS TRIAL ${best##*/}"* ]]
  [[ $output =~ "trial ${best##*/} "+[0-9] ]]
  [[ $output != *"the plan"* && $output != *"best trial"* ]]
  run frostline plan films-best --verify
  echo "$output"
  [[ $output == *"of trial ${best##*/}, which was applied"* ]]
  run frostline apply films --trial 999 --as films-999
  [ "$status" -eq 3 ]
}

@test "a study whose trials all did alike has a page that says so" {
  sed 's/^id: films/id: easy/; s/layers: 2/layers: 3/; s/^budget: 24/budget: 9/
    /^data/d' study.yaml >easy.yaml
  frostline study create easy.yaml
  timeout 60 frostline study watch easy --until-done
  run frostline report easy
  echo "$output"
  [ "$status" -eq 0 ]
  says "No importance, plan, frontier: all 9 trials have the same value" \
    "none; accuracy, to be maximized"
}

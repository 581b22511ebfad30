# SPDX-License-Identifier: Apache-2.0
# What people do to studies that are there: label, compare, copy, export,
# import, wait for and delete them; bad input changes nothing.
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
    best = 0.9 if trial["parameters"]["kind"] == "large" else 0.8
    for step in (1, 2, 3):
        print(json.dumps({"type": "report", "step": step,
                          "metrics": {"accuracy": best - 0.1 / step}}),
              flush=True)
    print(json.dumps({"type": "finish", "state": "succeeded",
                      "metrics": {"accuracy": best}}), flush=True)
PY
  cat >study.yaml <<'YAML'
id: films
model: {id: none, layers: 1}
data: none
trainer: frostline-demo-trainer
maximize: accuracy
budget: 4
seed: 3
sampler: random
labels: {team: nlp}
space:
  modules: {head: [0, 1e-4, 1e-3]}
  parameters: {kind: [small, large]}
enqueue: [{values: {kind: large}}]
YAML
  frostline study create study.yaml >create.log
  run_trials 100
  frostline study export films --with-measurements -o films.jsonl
}

teardown_file() { end_serving; }

# trials_of STUDY: how many it has.
trials_of() {
  frostline trial list "$1" --json |
    python3 -c 'import json, sys; print(len(json.load(sys.stdin)["trials"]))'
}

# setting STUDY EXPRESSION: of its settings, as Python sees them.
setting() {
  frostline study show "$1" --json |
    python3 -c "import json, sys; s = json.load(sys.stdin)['settings']; print(($2))"
}

@test "labels are set, taken away and refused whole" {
  frostline study clone films labelled
  run frostline study label labelled 'name=Films of old' team-
  [ "$status" -eq 0 ]
  says "name=Films of old"
  [ "$(setting labelled "s['labels']")" = "{'name': 'Films of old'}" ]
  run frostline study label labelled more=1 oops
  [ "$status" -eq 2 ]
  says "'oops' is no change of a label" "KEY=VALUE"
  [ "$(setting labelled "s['labels']")" = "{'name': 'Films of old'}" ]
  run frostline study label nobody a=b
  [ "$status" -eq 3 ]
}

@test "the best points are distinct when they freeze other modules" {
  frostline study clone films ranked >/dev/null
  frostline study pause ranked >/dev/null
  for told in 1e-4=0.95 1e-3=0.9 0=0.8; do
    frostline trial tell ranked --set "head=${told%=*}" --set kind=small \
      --metric "accuracy=${told#*=}" >/dev/null
  done
  run frostline study best ranked --format csv
  [ "$(cut -d, -f4 <<<"$output" | tr -d '\r' | xargs)" = "trials 1 2 3" ]
  run frostline study best ranked --distinct --format csv
  [ "$(cut -d, -f4 <<<"$output" | tr -d '\r' | xargs)" = "trials 1 3" ]
  run frostline study best ranked --top 1 --distinct --format yaml
  says "enqueue:" "judged" "mean 0.95, trials 1" '"head": 1e-04'
}

@test "what is stored or typed sends a terminal no escape sequences" {
  evil=$'a\e[31mb\a\xe2\x80\xaec\td'
  frostline study create study.yaml --id escapes >/dev/null
  frostline study pause escapes >/dev/null  # no worker of other tests takes it
  frostline study label escapes "evil=$evil" >/dev/null
  frostline study note escapes "$evil" >/dev/null
  for words in 'label escapes' 'show escapes' 'list --wide' \
    'list --columns labels,notes' $'show x\e[31m'; do
    run frostline study $words
    echo "$words: $output" | cat -v
    fails grep -q $'[\e\a]\|\xe2\x80\xae' <<<"$output"
  done
  run frostline trial show escapes $'\e[31m0'
  [ "$status" -eq 2 ]
  fails grep -q $'\e' <<<"$output"
  frostline study list --format csv --columns id,notes >escapes.csv
  python3 -c '
import csv, sys
rows = {r["id"]: r for r in csv.DictReader(open("escapes.csv", newline=""))}
assert rows["escapes"]["notes"] == sys.argv[1], rows' "$evil"
  frostline study label escapes --json | python3 -c '
import json, sys
labels = json.load(sys.stdin)["settings"]["labels"]
assert labels["evil"] == sys.argv[1], labels' "$evil"
}

@test "a note comes as a word or from standard input" {
  frostline study clone films noted
  frostline study note noted "for the paper"
  [ "$(setting noted "s['notes']")" = "for the paper" ]
  printf '# Why\nbecause' | frostline study note noted -
  [ "$(setting noted "s['notes'].split()")" = "['#', 'Why', 'because']" ]
  run frostline study note noted
  [ "$output" = $'# Why\nbecause' ]
  frostline study show noted | grep -q '^note: .*# Why because'
  frostline study note noted ''
  run frostline study note noted
  [ "$output" = "study noted has no note" ]
}

@test "a study is compared with itself, its file and another" {
  run frostline study diff films films
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  run frostline study diff films study.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  frostline study clone films other --seed 5 --set 'space.modules[0].fixed=0'
  run frostline study diff films other
  [ "$status" -eq 1 ]
  says "seed: 3 -> 5" "space.modules[head].fixed: - -> 0" \
    "space.modules[head].levels.rates: [0, 1e-04, 0.001] -> -"
  run frostline study diff films nobody
  [ "$status" -eq 3 ]
}

@test "a clone that is refused leaves nothing" {
  run frostline study clone films films
  [ "$status" -eq 5 ]
  says "FL-2002"
  run frostline study clone films wrong --set training.epocs=3
  [ "$status" -eq 100 ]
  says "epochs"
  run frostline study clone films wrong --with-trials \
    --set 'space.parameters[0].choices=[small, huge]' --set enqueue=[]
  [ "$status" -eq 100 ]
  says "FL-1014" "studies/films"
  run frostline study show wrong
  [ "$status" -eq 3 ]
}

@test "a clone takes the trials that have ended" {
  run frostline study clone films learned --with-trials --trials 9
  [ "$status" -eq 0 ]
  says "with 4 trials of films"
  # One is enqueued by the spec itself.
  [ "$(trials_of learned)" -eq 5 ]
  [ "$(setting learned "s['budget']['trials']")" = 9 ]
}

@test "an export is whole, and never overwrites by itself" {
  [ "$(grep -c '"state"' films.jsonl)" -eq 4 ]
  [ "$(grep -c '"measurements"' films.jsonl)" -ge 4 ]
  before=$(cksum films.jsonl)
  run frostline study export films -o films.jsonl
  [ "$status" -eq 2 ]
  says "films.jsonl is there already" "--force"
  [ "$(cksum films.jsonl)" = "$before" ]
  ln -s linked.jsonl link.jsonl
  frostline study export films --with-measurements -o link.jsonl
  [ -L link.jsonl ]
  cmp films.jsonl linked.jsonl
  frostline study export films --with-measurements -o - | cmp - films.jsonl
  [ ! -e ./- ]
  frostline study export films -o /dev/null
  [ -c /dev/null ]
  run frostline study export films -o nowhere/films.jsonl
  [ "$status" -eq 2 ]
  run frostline study export nobody -o nobody.jsonl
  [ "$status" -eq 3 ]
  run frostline study export films --filter 'state ~ x' -o nobody.jsonl
  [ "$status" -eq 2 ]
  [ ! -e nobody.jsonl ]
  run frostline study export films --format csv --filter 'state = FAILED'
  [ "${#lines[@]}" -eq 1 ]
  says "number,state,origin" "head" "kind"
}

@test "the ending of an export's file decides its format" {
  frostline study export films -o ended.csv
  [[ $(head -n 1 ended.csv) == number,state,origin* ]]
  frostline study export films --format csv -o ended.txt
  cmp ended.csv ended.txt
  run frostline study export films --format jsonl -o other.csv
  [ "$status" -eq 2 ]
  says "other.csv ends as a file of --format csv does" ".jsonl"
  [ ! -e other.csv ]
}

@test "an import is done once, however often it is asked" {
  frostline study clone films fresh --set enqueue=[]
  run frostline study import fresh films.jsonl
  echo "$output"
  [ "$status" -eq 0 ]
  says "imported 4 trials into fresh"
  run frostline study import fresh films.jsonl
  says "imported 0 trials" "4 were there already"
  [ "$(trials_of fresh)" -eq 4 ]
  run frostline study show fresh
  says "0/4 done, 4 outside the budget, 0 running"
  run frostline study list --columns id,done,outside --filter 'labels.team = nlp'
  [[ $output =~ fresh\ +0\ +4 ]]
  run frostline trial curves fresh 0 --format csv
  says "step," "3,"
  frostline study export films --format csv -o films.csv
  frostline study clone films table --set enqueue=[]
  frostline study import table <(cat films.csv)
  [ "$(frostline trial show table 0 --json | grep -A3 '"kind"')" = \
    "$(frostline trial show films 0 --json | grep -A3 '"kind"')" ]
}

@test "a bad line is named, and nothing is imported" {
  frostline study clone films strict --set enqueue=[]
  frostline study export films -o bad.jsonl
  sed -i '3s/SUCCEEDED/DONE/' bad.jsonl
  run frostline study import strict bad.jsonl
  [ "$status" -eq 100 ]
  says "bad.jsonl:3:"
  frostline study export films --force -o bad.jsonl
  sed -i '4s/"small"/"huge"/; 4s/"large"/"huge"/' bad.jsonl
  run frostline study import strict bad.jsonl
  echo "$output"
  [ "$status" -eq 100 ]
  says "bad.jsonl:4:" "FL-1014"
  # More than a request holds: its points are judged before the first is sent.
  head -n 1 bad.jsonl >many.jsonl
  for _ in $(seq 1100); do sed -n 1p bad.jsonl; done >>many.jsonl
  sed -n 4p bad.jsonl >>many.jsonl
  run frostline study import strict many.jsonl
  echo "$output"
  [ "$status" -eq 100 ]
  says "many.jsonl:1102:"
  [ "$(trials_of strict)" -eq 0 ]
}

@test "what is no file of trials is refused, and a lost value named" {
  frostline study clone films doubtful --set enqueue=[]
  echo hello >garbage.jsonl
  run frostline study import doubtful garbage.jsonl
  [ "$status" -eq 100 ]
  says "garbage.jsonl:1:" "accuracy, head, kind"
  frostline study export films --force -o bad.jsonl
  sed -i '2s/"parameters": *\[/&{"name": "kind", "value": "small"}, /' bad.jsonl
  run frostline study import doubtful bad.jsonl
  [ "$status" -eq 100 ]
  says "bad.jsonl:2: parameter kind is there twice"
  frostline study export films --force -o bad.jsonl
  sed -i '2s/"parameters": *\[[^]]*\]/"parameters": []/' bad.jsonl
  run frostline study import doubtful bad.jsonl
  [ "$status" -eq 100 ]
  says "bad.jsonl:2: parameter " " has no value"
  [ "$(trials_of doubtful)" -eq 0 ]
}

# notes_of STUDY: of its trials, in their order.
notes_of() {
  frostline trial list "$1" --json | python3 -c 'import json, sys
print([t["note"] for t in json.load(sys.stdin)["trials"] if t["note"]])'
}

@test "notes go with trials, and a study's notes are compared" {
  frostline trial note films 1 "bad luck"
  frostline study export films --force -o noted.jsonl
  frostline study clone films kept --set enqueue=[]
  frostline study import kept noted.jsonl
  [ "$(notes_of kept)" = "['bad luck']" ]
  # Imported again it does not undo what was written since.
  frostline trial note kept 1 "good luck"
  frostline study import kept noted.jsonl
  [ "$(notes_of kept)" = "['good luck']" ]
  frostline study clone films copied --with-trials --set enqueue=[]
  [ "$(notes_of copied)" = "['bad luck']" ]
  frostline trial note films 1 ''
  frostline study update copied --notes "for the paper"
  run frostline study diff films copied
  [ "$status" -eq 1 ]
  says "notes" "for the paper"
}

@test "why is answered of a study and of a trial" {
  run frostline study why films 0
  [ "$status" -eq 0 ]
  says "trial 0 has ended SUCCEEDED" "workers:"
  run frostline study why films/0
  says "trial 0 has ended SUCCEEDED"
  frostline study clone films waits
  frostline study pause waits
  run frostline study why waits
  says "fix: "
  run frostline study why films 99
  [ "$status" -eq 3 ]
}

@test "a wait ends with a code for each end" {
  run frostline study wait films
  [ "$status" -eq 0 ]
  run frostline study wait films --for 'best>=0.9'
  [ "$status" -eq 0 ]
  run frostline study wait films --for trials=99
  [ "$status" -eq 8 ]
  run frostline study wait films --for 'best<=1'
  [ "$status" -eq 2 ]
  says "best>=1"
  frostline study clone films idle
  run frostline study wait idle --for running --timeout 1s
  [ "$status" -eq 6 ]
  says "FL-4008" "study idle is ACTIVE, 0/4 done, 0 running after" "1 s" \
    "frostline study why idle"
  frostline study stop idle
  run frostline study wait idle
  [ "$status" -eq 8 ]
  run frostline study delete idle --yes
  [ "$status" -eq 0 ]
  run frostline study show idle
  [ "$status" -eq 3 ]
}

@test "importance of few trials says how an ended study gets more" {
  for verb in importance plan; do
    run frostline "$verb" films
    [ "$status" -ne 0 ]
    says "FL-" "at least 8 are needed" \
      "frostline study update films --budget 8"
    [[ $output != *"wait for more"* ]]
  done
}

@test "a watch of a study that has ended says so once, and ends" {
  for flag in "" --until-done; do
    # shellcheck disable=SC2086  # an empty flag is none
    run timeout 20 frostline study watch films $flag
    [ "$status" -eq 0 ]
    [ "$(grep -c COMPLETED <<<"$output")" -eq 1 ]
  done
  run timeout 20 frostline study watch films --json
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 1 ]
}

@test "all settings change, or none" {
  frostline study clone films tuned
  frostline study update tuned --time 12h --training-time 90m \
    --require gpu=a100 --label a=b --priority 3
  [ "$(setting tuned "s['budget']['time'], s['budget']['training_seconds']")" \
    = "('43200s', 5400)" ]
  [ "$(setting tuned "s['required_worker_labels']")" = \
    "{'gpu': 'a100', 'trainer': 'frostline-demo-trainer'}" ]
  [ "$(setting tuned "sorted(s['labels'])")" = "['a', 'team']" ]
  run frostline study update tuned --priority 4 --time soon
  [ "$status" -eq 2 ]
  says "'soon' is no time"
  [ "$(setting tuned "s['priority']")" = 3 ]
}

@test "a stopped study keeps its settings but for labels and notes" {
  frostline study clone films halted
  frostline study stop halted
  for change in '--budget 9' '--time 1h' '--priority 3' '--max-parallel 2' \
    '--pruner none' '--require gpu=a100' '--notify none' \
    '--notes no --budget 9'; do
    run frostline study update halted $change
    echo "$change: $output"
    [ "$status" -eq 5 ]
    says "FL-2003" "has ended: stopped" "stays as it is" "clone"
  done
  [ "$(setting halted "s['budget']['trials'], s['priority'], s['notes']")" = \
    "('4', 0, '')" ]
  frostline study update halted --label seen=yes --notes "too early"
  frostline study label halted kind=old
  [ "$(setting halted "s['notes'], sorted(s['labels'])")" = \
    "('too early', ['kind', 'seen', 'team'])" ]
}

@test "a study is deleted only by who agrees" {
  frostline study clone films doomed
  run frostline study delete doomed </dev/null
  [ "$status" -eq 2 ]
  says "nothing was deleted" "frostline study delete doomed --yes"
  run frostline study delete doomed --force <<<y
  [ "$status" -eq 2 ]
  says "frostline study delete doomed --force --yes"
  frostline study show doomed >shown.log
  run python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
    frostline study delete doomed <<<n
  says "0/4 done, 0 running" "delete it?"
  [[ $output != *"running, 0 running"* ]]
  frostline study delete doomed --yes
  run frostline study show doomed
  [ "$status" -eq 3 ]
}

@test "a mistake on the command line is one of use, not of a file" {
  frostline study clone films usual
  long=$(printf 'x%.0s' $(seq 1000))
  for wrong in "update usual --pruner nope" "label usual $long=1" \
    "update usual --notes $(printf 'x%.0s' $(seq 100000))"; do
    # shellcheck disable=SC2086  # its words are arguments
    run frostline study $wrong
    [ "$status" -eq 2 ]
    says "fix: "
  done
  run frostline trial list films --filter 'foo = 1'
  [ "$status" -eq 2 ]
  says "FL-1018"
}

@test "a study with running trials is deleted only when that is said" {
  frostline study clone films slow --set priority=100
  frostline worker --exec 'sleep 60' --id slow \
    --label trainer=frostline-demo-trainer >slow.log 2>&1 3>&- &
  worker=$!
  run frostline study wait slow --for running --timeout 30s
  [ "$status" -eq 0 ]
  run frostline study delete slow
  [ "$status" -eq 5 ]
  says "running" "--force --yes"
  run frostline study delete slow --force
  [ "$status" -eq 5 ]
  frostline study show slow >shown.log
  frostline study delete slow --force --yes
  end_worker
  run frostline study show slow
  [ "$status" -eq 3 ]
}

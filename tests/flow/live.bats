# SPDX-License-Identifier: Apache-2.0
# Screens and streams of a real coordinator: one study that has ended, with
# eight trials, and one that nobody works on.
load coordinator.bash

SOURCE=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
TOY=$SOURCE/recipes/demo/study.yaml

setup_file() {
  begin_in_own_folder
  serve_from frost
  cat >trainer.py <<'PY'
import json, sys
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] == "trial":
        print(json.dumps({"type": "finish", "state": "succeeded", "metrics":
              {"accuracy": trial["parameters"]["x"]}}), flush=True)
PY
  cat >study.yaml <<'YAML'
id: ended
model: {id: none, layers: 1}
data: none
trainer: frostline-demo-trainer
maximize: accuracy
budget: 8
space:
  parameters:
    x: {float: [0.1, 0.9]}
YAML
  frostline study create study.yaml >create.log
  run_trials 100
  frostline study create "$TOY" --id waits >>create.log
}

teardown_file() { end_serving; }

setup() { cd "$BATS_TEST_TMPDIR"; }

# start_screen WIDTH: a shell in a terminal of its own, on the socket `screen`.
start_screen() {
  command -v tmux >/dev/null || skip "tmux is not installed"
  tmux -u -S "$PWD/screen" -f /dev/null new-session -d -x "$1" -y 24 \
    "exec env PS1='ready> ' bash --norc --noprofile -i" 3>&-
  wait_for 10 shows 'ready>'
}

shows() { tmux -S "$PWD/screen" capture-pane -p | grep -qF -- "$1"; }
types() { tmux -S "$PWD/screen" send-keys "$@"; }

teardown() { [ ! -e screen ] || tmux -S "$PWD/screen" kill-server || true; }

@test "top once is an object with counts and rows" {
  frostline top --once --format json >top.json
  run python3 -c 'import json; t = json.load(open("top.json"))
print(t["studies"]["all"], t["studies"]["active"], t["trials"]["ended"],
      t["slots"]["free"], t["rows"])'
  [ "$output" = "2 1 8 0 []" ]
}

@test "top off a terminal is shown once and says so" {
  run timeout 20 frostline top
  [ "$status" -eq 0 ]
  says "as with --once" "studies active; trials:" "no workers"
}

@test "a pace that is no time is refused" {
  run frostline top --every soon
  [ "$status" -eq 2 ]
  says "--every" "60s, 1m30s"
}

@test "events of one study end when they have caught up" {
  run timeout 20 frostline events ended --once
  [ "$status" -eq 0 ]
  [ "$(grep -c SUCCEEDED <<<"$output")" -eq 8 ]
  says "ended  study  COMPLETED  8/8 done"
}

@test "events since a revision leave out what was before it" {
  last=$(frostline study show ended --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["revision"])')
  run timeout 20 frostline events ended --once --since "$last"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  run frostline events ended --since yesterday
  [ "$status" -eq 2 ]
  says "'yesterday' is no revision" "or all"
}

@test "a watch of all is told of a study that appears later" {
  timeout 60 frostline study watch --all --json >events.jsonl 2>watch.log 3>&- &
  watch=$!
  sleep 2
  frostline study create "$TOY" --id later >/dev/null
  wait_for 20 grep -q studies/later events.jsonl
  kill "$watch"
  run python3 -c 'import json
events = [json.loads(line) for line in open("events.jsonl")]
names = {e["study"]["name"] for e in events if "study" in e}
print("studies/later" in names, "studies/ended" in names)'
  frostline study stop later >/dev/null
  [ "$output" = "True False" ]
}

@test "a watch of one and of all at once is refused" {
  run frostline study watch ended --all
  [ "$status" -eq 2 ]
  says "--all alone"
  run frostline study watch
  [ "$status" -eq 2 ]
}

@test "a connection that is lost is told once, and once that it is back" {
  port=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  export FROSTLINE_CONNECT=127.0.0.1:$port
  serve() {
    frostline serve --data own --listen "$FROSTLINE_CONNECT" \
      --ready-file own.ready >>own.log 2>&1 3>&- &
    coordinator=$!
    wait_for 30 test -s own.ready
  }
  serve
  frostline study create "$TOY" --id toy >/dev/null
  frostline study watch toy >people.out 2>people.err 3>&- &
  frostline study watch --all >all.out 2>all.err 3>&- &
  frostline study wait toy >wait.out 2>wait.err 3>&- &
  wait_for 10 grep -q ACTIVE people.out
  sleep 2  # all three follow
  kill "$coordinator"
  wait_for 20 grep -q 'connection lost' people.err
  wait_for 20 grep -q 'connection lost' all.err
  wait_for 20 grep -q 'connection lost' wait.err
  sleep 2  # and are refused several times
  serve
  wait_for 60 grep -q 'connected again' all.err
  frostline study stop toy >/dev/null
  wait_for 60 grep -q 'connected again' people.err
  wait_for 60 grep -q 'connected again' wait.err
  kill "$coordinator" $(jobs -p) || true
  for told in people.err all.err wait.err; do
    [ "$(grep -c 'connection lost' "$told")" -le 2 ]  # the end loses it too
    [ "$(grep -c 'connected again' "$told")" -eq 1 ]
  done
}

@test "history fits its width and has every trial" {
  for width in 40 80 200; do
    run frostline study history ended --width "$width"
    [ "$status" -eq 0 ]
    says "accuracy by trial number" "└──"
    run python3 -c 'import sys
lines = sys.argv[1].split("\n")[1:]
print(max(map(len, lines)))' "$output"
    [ "$output" -eq "$width" ]
  done
  run frostline study history waits
  says "no values to plot"
}

@test "top fills terminals of every width, and q gives them back" {
  for width in 40 80 200; do
    start_screen "$width"
    types 'frostline top' Enter
    wait_for 20 shows 'q quit'
    wait_for 5 shows 'studies active'
    types q
    wait_for 10 shows 'ready> frostline top'
    types 'stty -a | grep -qwE -- "-(echo|icanon)" || echo s$((6 * 7))' Enter
    wait_for 10 shows 's42'
    tmux -S "$PWD/screen" kill-server
    rm -f screen
  done
}

@test "top gives the terminal back to Ctrl-C, SIGTERM and Ctrl-Z" {
  start_screen 80
  types 'frostline top; echo code=$?' Enter
  wait_for 20 shows 'q quit'
  types C-c
  wait_for 10 shows 'code=130'
  types clear Enter 'frostline top' Enter
  wait_for 20 shows 'q quit'
  types C-z
  wait_for 10 shows 'Stopped'
  types fg Enter
  wait_for 10 shows 'q quit'
  tmux -S "$PWD/screen" resize-window -x 60 -y 20
  wait_for 10 shows 'q quit'
  shell=$(tmux -S "$PWD/screen" display-message -p '#{pane_pid}')
  kill -TERM $(cat "/proc/$shell/task/$shell/children")
  wait_for 10 shows 'ready>'
  types clear Enter 'frostline top; echo code=$?' Enter
  wait_for 20 shows 'q quit'
  kill -TERM $(cat "/proc/$shell/task/$shell/children")
  wait_for 10 shows 'code=143'
  types clear Enter 'frostline top; echo code=$?' Enter
  wait_for 20 shows 'q quit'
  kill -HUP $(cat "/proc/$shell/task/$shell/children")
  wait_for 10 shows 'code=129'
}

@test "top has a row of each trial that runs, with its study's best" {
  rates=(--set embeddings=0 --set head=0)
  for layer in 0 1 2 3 4 5; do rates+=(--set "layer.$layer=0"); done
  frostline trial tell waits "${rates[@]}" --metric accuracy=0.8125 >/dev/null
  frostline worker --exec 'sleep 1000' --label trainer=frostline-demo-trainer --id gpu03 >worker.log 2>&1 3>&- &
  worker=$!
  wait_for 20 runs_one
  run python3 -c 'import json
for row in json.load(open("top.json"))["rows"]:
    print(row["worker"], row["study"], row["trial"], row["best"])'
  end_worker
  [ "$output" = "gpu03 waits studies/waits/trials/1 accuracy 0.8125" ]
}

runs_one() {
  frostline top --once --format json >top.json && grep -q waits top.json
}

# begin_busy STUDY: on two slots, with trials of half a second.
begin_busy() {
  cat >slow.py <<'PY'
import json, sys, time
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] == "trial":
        time.sleep(0.5)
        print(json.dumps({"type": "finish", "state": "succeeded",
                          "metrics": {"accuracy": 0.5}}), flush=True)
PY
  frostline study list --filter 'state = ACTIVE' --format name |
    while read -r study; do frostline study pause "${study#studies/}"; done
  sed 's/^budget: .*/budget: 3000/' "$BATS_FILE_TMPDIR/study.yaml" >busy.yaml
  frostline study create busy.yaml --id "$1" >/dev/null
  frostline study update "$1" --max-parallel 2
  frostline worker --exec 'python3 slow.py' --id two --slots 2 \
    --label trainer=frostline-demo-trainer >worker.log 2>&1 3>&- &
  worker=$!
}

@test "a watch counts as running the trials that it shows" {
  begin_busy busy
  start_screen 100
  types 'frostline study watch busy' Enter
  wait_for 20 shows '2 running'
  run timeout 60 python3 - screen <<'PY'
import re, subprocess, sys, time
told, end = [], time.time() + 8
while time.time() < end:
    lines = subprocess.run(
        ["tmux", "-S", sys.argv[1], "capture-pane", "-p"],
        capture_output=True, text=True).stdout.rstrip().split("\n")
    said = re.match(r"ACTIVE .* (\d+) running", lines.pop())
    if not said:
        continue
    shown = 0
    while lines and lines.pop().startswith("  trial "):
        shown += 1
    # Before it has asked for the running trials it shows none.
    if told or shown > 0:
        told.append((int(said[1]), shown))
wrong = [pair for pair in told if pair[0] != pair[1]]
print(len(told), "screens,", len(wrong), "of them wrong:", wrong[:5])
sys.exit(len(told) < 10 or wrong != [])
PY
  end_worker
  frostline study stop busy
  echo "$output"
  [ "$status" -eq 0 ]
}

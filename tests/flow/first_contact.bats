# SPDX-License-Identifier: Apache-2.0
# What a newcomer types in the first hour, against a real coordinator: each test
# is one stumble that somebody had.
load coordinator.bash

SOURCE=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
TOY=$SOURCE/recipes/demo/study.yaml

setup_file() {
  begin_in_own_folder
  serve_from frost
}

teardown_file() { end_serving; }

setup() { cd "$BATS_TEST_TMPDIR"; }

new_study() { frostline study create "$TOY" --id "$1" "${@:2}"; }

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

@test "a worker says why trials fail, lists say it too, and it leaves at once" {
  new_study fails --trials 1
  run timeout 60 frostline worker --exec 'sh -c "exit 9"' --id failer \
    --label trainer=frostline-demo-trainer --idle-timeout 3s
  says "trial_failed" "FL-5003: the trainer exited with code 9"
  run frostline trial list fails
  says "FL-5003" "exited with code 9"
  run frostline worker list
  [[ $output != *failer* ]]
}

@test "commands right behind a start wait for it" {
  port=$(free_port)
  export FROSTLINE_CONNECT=127.0.0.1:$port
  (sleep 1.5; exec frostline serve --data late --listen "$FROSTLINE_CONNECT") \
    >late.log 2>&1 3>&- &
  run frostline study list
  kill %1; wait
  [ "$status" -eq 0 ]
  says "waiting for a coordinator at 127.0.0.1:$port"
}

@test "status waits for as long as it is told, and no longer" {
  local away
  away=127.0.0.1:$(free_port)
  run frostline status --connect "$away" --wait 1s
  [ "$status" -eq 7 ]
  says "nothing listens at $away" "serve --data frost --listen $away"
  run frostline status
  [ "$status" -eq 0 ]
  says "coordinator: frostline" "workers:     0 live"
}

@test "the ready file goes with the coordinator" {
  frostline serve --data gone --listen 127.0.0.1:0 --ready-file here \
    >gone.log 2>&1 3>&- &
  pid=$!
  for _ in $(seq 100); do [ -s here ] && break || sleep 0.1; done
  grep -q '^127.0.0.1:[0-9]*$' here
  kill "$pid"; wait "$pid" || true
  [ ! -e here ]
}

@test "another budget on an existing id is said, and can be had" {
  new_study budget
  run frostline study create "$TOY" --id budget --trials 99
  [ "$status" -eq 5 ]
  says "exists, with another settings.budget" "frostline study update"
  run frostline study update budget --budget 99
  [ "$status" -eq 0 ]
  says "0/99 done"
  run frostline study update budget
  [ "$status" -eq 2 ]
  says "--budget" "--priority"
}

@test "help on a word that is no command is refused with a hint" {
  run frostline studdy --help
  [ "$status" -eq 2 ]
  says "did you mean 'study'?"
  run frostline study lst --help
  [ "$status" -eq 2 ]
  says "did you mean 'list'?"
}

@test "alone it prints help, and a verb that was meant is proposed" {
  run frostline
  [ "$status" -eq 2 ]
  says "Which layers to train" "study"
  for pair in "watch:study watch" "ls:study list" "ui:top" "run:study create" \
    "enqueue:trial enqueue"; do
    run frostline "${pair%%:*}" x
    [ "$status" -eq 2 ]
    says "did you mean \`frostline ${pair#*:}\`?"
  done
  for pair in "trial ls:list" "study rm:delete" "registry delete:remove" \
    "trial logs:log"; do
    run frostline ${pair%%:*} x
    [ "$status" -eq 2 ]
    says "did you mean '${pair#*:}'?"
  done
}

@test "errors have one form in all programs" {
  for command in "frostline study list --nosuch" "frostline serve --nosuch" \
    "frostline worker --nosuch"; do
    run $command
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "error[FL-1016]: "* && ${lines[1]} == "  because: "* &&
      ${lines[2]} == "  at: "* && ${lines[3]} == "  fix: "* ]]
  done
}

@test "an unknown study proposes the nearest" {
  new_study nearest
  run frostline study show neerest
  [ "$status" -eq 3 ]
  says "there is no study neerest" "did you mean 'nearest'?"
}

@test "rates may stand in any order, a high one and a forgotten module are said" {
  cat >mine.yaml <<'YAML'
model: {layers: 2}
maximize: accuracy
budget: 4
space: {modules: {head: [3e4, 0, 1e-5]}}
YAML
  run frostline study create mine.yaml --dry-run
  [ "$status" -eq 0 ]
  says "a learning rate of 3e+04 for head is above 1; did you mean 0.0003?" \
    "nothing gives a rate to embeddings, layer.0-1"
}

@test "a newcomer's worker is waited for, and none is asked for" {
  new_study grace --trials 1
  (sleep 1; exec frostline worker --exec frostline-demo-trainer --id late \
    --study grace --exit-when-done) >late.log 2>&1 3>&- &
  run timeout 60 frostline study watch grace --until-done
  wait
  [ "$status" -eq 0 ]
  [[ $output != *"nothing runs yet"* ]] || {
    echo "$output"
    return 1
  }
}

@test "errors under --json are JSON on standard error" {
  run bash -c 'frostline study show nosuch --json 2>error.json'
  [ "$status" -eq 3 ]
  [ -z "$output" ]
  run python3 -c 'import json; print(json.load(open("error.json"))["error"]["id"])'
  [ "$output" = FL-2001 ]
}

@test "a watch without workers says so within seconds" {
  new_study lonely
  run timeout 6 frostline study watch lonely
  [ "$status" -eq 124 ]
  says "nothing runs yet: no worker" \
    "frostline worker --connect $FROSTLINE_CONNECT --exec frostline-demo-trainer"
  run frostline study why lonely
  says "frostline worker --connect $FROSTLINE_CONNECT --exec frostline-demo-trainer"
}

@test "a dry run needs no coordinator and says what it left open" {
  run frostline study create "$TOY" --dry-run --connect "127.0.0.1:$(free_port)"
  [ "$status" -eq 0 ]
  says "is a study file" "not checked" "frozen prefixes"
}

@test "a dry run says what trials of this very space can share" {
  run frostline study create "$TOY" --id space --dry-run
  [ "$status" -eq 0 ]
  says "0.25 of 7 leading modules" "4 % of the space freezes" \
    "search prefix_depth" "no registry was found"
}

@test "slips in a file are named in plain words" {
  printf 'model:\n\tid: a\n' >tab.yaml
  run frostline study create tab.yaml
  [ "$status" -eq 100 ]
  says "tab.yaml:2:1" "a tab cannot indent" "blanks"
  echo '{"id": "x", "budget": 3' >cut.json
  run frostline study create cut.json
  [ "$status" -eq 100 ]
  says "a { is not closed" "cut off"
  sed 's/^budget:.*/budget: 1e-999/' "$TOY" >tiny.yaml
  run frostline study create tiny.yaml --id tiny
  [ "$status" -eq 100 ]
  says "1e-999" "whole number"
}

@test "slips on the command line are usage errors with a way out" {
  run frostline plan budget --tolerance -1
  [ "$status" -eq 2 ]
  says "--tolerance: '-1' is no number from 0"
  run frostline study create "$TOY" --id seed --seed -1
  [ "$status" -eq 2 ]
  says "--seed: '-1'"
  run frostline study create "$TOY" --id 'Bad Name'
  [ "$status" -eq 2 ]
  says "'Bad Name'" "a-z"
  run frostline backup --label ../x
  [ "$status" -eq 2 ]
  says "../x" "a-z"
  run frostline serve --data none --restore nofile
  [ "$status" -eq 2 ]
  says "there is no file nofile"
  [ ! -e none ]
  run frostline demo --model /nonexistent
  [ "$status" -eq 100 ]
  says "no config.json in /nonexistent" "--synthetic"
}

@test "times are written in one way everywhere" {
  for time in 90 90s 1m30s; do
    sed "\$a lease: {ttl: $time}" "$TOY" >time.yaml
    run frostline study create time.yaml --id "t$time" --dry-run
    [ "$status" -eq 0 ]
  done
  run frostline serve --data none --lease-ttl soon
  [ "$status" -eq 2 ]
  says "60s, 1m30s"
  run frostline worker --exec true --stop-grace 5m --idle-timeout soon
  [ "$status" -eq 2 ]
  says "60s, 1m30s"
}

@test "an address that cannot be had leaves no data folder" {
  run frostline serve --data taken --listen "$FROSTLINE_CONNECT"
  [ "$status" -eq 5 ]
  [ ! -e taken ]
  run frostline serve --data open --listen 192.0.2.1:7070
  [ "$status" -eq 2 ]
  [ ! -e open ]
}

@test "the first log lines are for users" {
  [ "$(grep -c wal_reset_flaw "$BATS_FILE_TMPDIR/serve.log")" -eq 0 ]
  grep -q "frost/frostline.sqlite" "$BATS_FILE_TMPDIR/serve.log"
}

@test "a web server is no coordinator" {
  : >web.log
  python3 -m http.server --bind 127.0.0.1 0 >>web.log 2>&1 3>&- &
  web=$!
  for _ in $(seq 50); do
    port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' web.log)
    [ -n "$port" ] && break || sleep 0.1
  done
  run frostline study list --connect "127.0.0.1:$port"
  kill "$web"
  [ "$status" -eq 7 ]
  says "is not a Frostline coordinator"
}

@test "a server of HTTP/2 that knows no gRPC is no coordinator" {
  python3 "$SOURCE/tests/support/not_found_http2.py" port >web.log 2>&1 3>&- &
  web=$!
  for _ in $(seq 50); do [ -s port ] && break || sleep 0.1; done
  run frostline study list --connect "127.0.0.1:$(cat port)"
  kill "$web"
  [ "$status" -eq 7 ]
  says "is not a Frostline coordinator" "404"
}

@test "a coordinator far away is reached with one connection" {
  python3 "$SOURCE/tests/support/slow_proxy.py" port "$FROSTLINE_CONNECT" 0.3 \
    >proxy.log 2>&1 3>&- &
  proxy=$!
  wait_for 10 test -s port
  run frostline study list --connect "127.0.0.1:$(cat port)"
  kill "$proxy"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(wc -l <port.peers)" -eq 1 ]
}

@test "the tour of README can be pasted as one block" {
  export FROSTLINE_CONNECT=127.0.0.1:$(free_port)
  ln -s "$SOURCE/recipes" recipes
  {
    echo 'set -em'
    sed -n '/^## A tour/,/^```$/p' "$SOURCE/README.md" |
      sed -n '/^```sh$/,/^```$/p' | grep -v -e '^```' -e '^export PATH' |
      sed "s/^frostline serve.*frost/& --listen $FROSTLINE_CONNECT/"
    echo wait
  } >tour.sh
  run timeout 100 bash tour.sh 3>&-
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  says "demo  COMPLETED  40/40 done" "best trial" "MAIN EFFECT"
}

@test "texts longer than the workers' model reads are refused at once" {
  cat >long.yaml <<'YAML'
id: long
model: {id: tiny, layers: 3}
data: {id: sentiment}
maximize: accuracy
budget: 4
space: {modules: {"layer.*": [0, 1e-4]}}
training: {max_length: 3200}
YAML
  # Given a worker whose registry says what its model is, and none here.
  frostline worker --registry "$SOURCE/recipes/samples" --exec cat --id told \
    --run-dir run-told >told.log 2>&1 3>&- &
  worker=$!
  wait_for 20 sh -c 'frostline worker list | grep -q told'
  run frostline study create long.yaml
  end_worker
  [ "$status" -ne 0 ]
  says "training.max_length is 3200, and tiny of the workers reads at most 64" \
    "write max_length: 64, or less" "long.yaml:7" "FL-5014"
  run frostline study show long
  [ "$status" -eq 3 ]
}

@test "a trainer that crashes alike at two points pauses its study" {
  new_study crashes --trials 9
  frostline worker --exec 'sh -c "exit 9"' --id crasher --study crashes --run-dir run-crasher \
    --label trainer=frostline-demo-trainer >crasher.log 2>&1 3>&- &
  worker=$!
  wait_for 60 sh -c 'frostline study show crashes | grep -q PAUSED'
  end_worker
  run frostline study show crashes
  says "failed alike: FL-5003: the trainer exited with code 9" \
    "mend it, then resume the study"
  run frostline trial list crashes --json
  [ "$(grep -c '"number"' <<<"$output")" -eq 2 ]  # of nine
}

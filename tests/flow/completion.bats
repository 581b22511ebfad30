# SPDX-License-Identifier: Apache-2.0
# What a shell completes, with names of a real coordinator.
load coordinator.bash

SOURCE=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
TOY=$SOURCE/recipes/demo/study.yaml

setup_file() {
  begin_in_own_folder
  unset XDG_CONFIG_HOME
  serve_from frost
  frostline study create "$TOY" --id apple --trials 2 >create.log
  frostline study create "$TOY" --id apricot >>create.log
  frostline study create "$TOY" --id pear >>create.log
  frostline study pause apricot >>create.log
  frostline study pause pear >>create.log
  frostline worker --exec 'sleep 1000' --label trainer=frostline-demo-trainer --id gpu03 >worker.log 2>&1 3>&- &
  echo $! >worker.pid
  for _ in $(seq 100); do
    frostline trial list apple --json | grep -q RUNNING && break || sleep 0.1
  done
  frostline completion bash >completion.bash
}

teardown_file() {
  kill "$(cat "$BATS_FILE_TMPDIR/worker.pid")" || true
  end_serving
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# offers WORDS…: what bash offers for the last word, in one line. Nobody waits for
# completion longer than a tenth of a second: where this machine was too busy for an
# answer, it is asked again.
offers() {
  for _ in 1 2 3 4 5; do
    run bash --norc -c '
      source "$HOME/completion.bash"
      COMP_WORDS=(frostline "$@") COMP_CWORD=$#
      _frostline
      echo "${COMPREPLY[*]}"' - "$@"
    [ "$status" -eq 0 ] || return 1
    [ -z "$output" ] || return 0
  done
}

@test "verbs and flags are completed" {
  offers stu
  [ "$output" = "study" ]
  offers study sh
  [ "$output" = "show" ]
  offers study create --dry
  [ "$output" = "--dry-run" ]
}

@test "studies are those that the coordinator has" {
  offers study show ap
  [ "$output" = "apple apricot" ]
  offers importance p
  [ "$output" = "pear" ]
}

@test "trials are those of the study that was named" {
  offers trial show apple ''
  [[ $output == 0* ]]
  offers trial show pear ''
  [ "$output" = "" ]
  offers trial compare apple/
  [[ $output == apple/0* ]]
}

@test "trials are counted however they ended" {
  frostline study clone pear ends >/dev/null
  frostline study pause ends >/dev/null
  rates=(--set embeddings=0 --set head=0)
  for layer in 0 1 2 3 4 5; do rates+=(--set "layer.$layer=0"); done
  for state in SUCCEEDED PRUNED INFEASIBLE FAILED; do
    frostline trial tell ends "${rates[@]}" --metric accuracy=0.5 \
      --state "$state" >/dev/null
  done
  offers trial show ends ''
  [ "$output" = "0 1 2 3" ]
}

@test "names may be written in full" {
  offers study show studies/ap
  [ "$output" = "studies/apple studies/apricot" ]
  offers trial show apple/
  [[ $output == apple/0* ]]
  offers trial show studies/apple/
  [[ $output == studies/apple/0* ]]
  offers trial list apple --format t
  [ "$output" = "table" ]
}

@test "workers are completed, and contexts without a coordinator" {
  offers worker drain g
  [ "$output" = "gpu03" ]
  mkdir -p -m 700 "$HOME/.config/frostline/contexts/lab"
  FROSTLINE_CONNECT=127.0.0.1:1 offers --context l
  [ "$output" = "lab" ]
}

@test "a value is one of those it may be, as bash cuts it too" {
  offers importance apple --format cs
  [ "$output" = "csv" ]
  offers importance apple --format = cs
  [ "$output" = "csv" ]
  offers recipe show els
  [[ $output == *elsa* ]]
}

@test "a program that takes the words over is asked for its flags" {
  offers serve --list
  [ "$output" = "--listen" ]
  offers worker --slo
  [ "$output" = "--slots --slots-per-gpu" ]
  offers worker dr
  [ "$output" = "drain" ]
}

@test "names of files are left to the shell" {
  touch study.yaml
  mkdir stock
  offers study create st
  [ "$output" = "stock study.yaml" ] || [ "$output" = "study.yaml stock" ]
  offers study create x --registry st
  [ "$output" = "stock" ]
}

@test "nobody there is silent and quick" {
  # One that takes the connection and never says a word.
  python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(5)
print(s.getsockname()[1], flush=True); time.sleep(60)' >port 2>/dev/null 3>&- &
  mute=$!
  for _ in $(seq 100); do [ -s port ] && break || sleep 0.1; done
  start=$(date +%s%N)
  run frostline __complete -- --connect "127.0.0.1:$(cat port)" study show ''
  took=$((($(date +%s%N) - start) / 1000000))
  kill "$mute"
  [ "$status" -eq 0 ]
  [ "$output" = "" ]
  echo "it took $took ms"
  [ "$took" -lt 1000 ]
}

@test "the scripts of the other shells are well formed" {
  for shell in bash zsh fish; do
    frostline completion "$shell" >"script.$shell"
    [ -s "script.$shell" ]
    command -v "$shell" || continue
    "$shell" -n "script.$shell"
  done
}

@test "help reads on: examples first, topics, a verb below its noun" {
  run frostline help study show
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == Examples: ]]
  [[ ${lines[1]} == *"frostline study show"* ]]
  run frostline help formats
  [[ $output == *jsonl* ]]
  run frostline help study shw
  [ "$status" -eq 2 ]
  [[ $output == *"did you mean 'show'?"* ]]
}

# SPDX-License-Identifier: Apache-2.0
# Ends of studies are told, by the real coordinator, also when it is killed in
# between.

SOURCE=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
TOY=$SOURCE/recipes/demo/study.yaml
source "$SOURCE/tests/support/wait_for.bash"

setup() {
  export HOME=$BATS_TEST_TMPDIR
  cd "$BATS_TEST_TMPDIR"
  # The program fails until there is a file that lets it go.
  cat >tell.sh <<SH
#!/bin/sh
cd "$BATS_TEST_TMPDIR"
cat >>tries; echo >>tries
[ -e may_go ] || exit 1
tail -n 1 tries >>told
SH
  chmod 700 tell.sh
  printf 'mail:\n  command: %s/tell.sh\n' "$BATS_TEST_TMPDIR" >notify.yaml
  chmod 600 notify.yaml
}

teardown() { kill -9 "$(cat serve.pid)" 2>/dev/null || true; }

serve() {
  rm -f ready
  frostline serve --data frost --listen 127.0.0.1:0 --ready-file ready \
    --notify-file notify.yaml >>serve.log 2>&1 3>&- &
  echo $! >serve.pid
  wait_for 30 test -s ready
  export FROSTLINE_CONNECT=$(cat ready)
}

study() {
  { cat "$TOY"; echo "notify: [$2]"; } >study.yaml
  frostline study create study.yaml --id "$1"
}

value() { python3 -c 'import json, sys
print(json.loads(open(sys.argv[1]).readline())[sys.argv[2]])' "$@"; }

@test "an end that nobody could be told of is told after kill -9" {
  serve
  study killed mail
  frostline study stop killed
  wait_for 30 test -s tries
  kill -9 "$(cat serve.pid)"
  wait "$(cat serve.pid)" || true
  [ ! -e told ]
  touch may_go
  serve
  wait_for 30 test -s told
  [ "$(value told study)" = killed ]
  [ "$(value told state)" = STOPPED ]
  [ "$(value told delivery)" = "$(value tries delivery)" ]
  wait_for 30 grep -q notification_delivered serve.log
}

@test "what was told is not told again after a restart" {
  touch may_go
  serve
  study calm mail
  frostline study stop calm
  wait_for 30 grep -q notification_delivered serve.log
  kill "$(cat serve.pid)"
  wait "$(cat serve.pid)" || true
  serve
  study later mail
  frostline study stop later
  wait_for 30 sh -c '[ "$(wc -l <told)" -ge 2 ]'
  [ "$(grep -c '"study":"calm"' told)" -eq 1 ]
}

@test "an id that is not registered is refused with those that are" {
  serve
  run study lost pager
  [ "$status" -ne 0 ]
  [[ $output == *"'pager'"* ]]
  [[ $output == *"mail"* ]]
  fails frostline study show lost
}

@test "a file that others may read is refused before a folder is made" {
  chmod 644 notify.yaml
  run frostline serve --data none --listen 127.0.0.1:0 --notify-file notify.yaml
  [ "$status" -ne 0 ]
  [[ $output == *"chmod 600 notify.yaml"* ]]
  [ ! -e none ]
}

@test "a webhook's token is in no log and no list of processes" {
  echo 'chat: {webhook: "http://127.0.0.1:1/hooks/T0KEN"}' >notify.yaml
  serve
  study quiet chat
  frostline study stop quiet
  wait_for 30 grep -q 'notification_failed.*curl exited with code 7' serve.log
  fails grep -q T0KEN serve.log
  fails grep -q T0KEN "/proc/$(cat serve.pid)/cmdline"
}

# SPDX-License-Identifier: Apache-2.0
# The finished study of `frostline demo --example` fills every screen.

setup_file() {
  export HOME=$BATS_FILE_TMPDIR
  cd "$BATS_FILE_TMPDIR"
  timeout 120 frostline demo --synthetic --trials 8 --example --dir demo \
    >demo.log 2>&1 3>&-
  frostline serve --data demo --listen 127.0.0.1:0 --ready-file ready \
    >serve.log 2>&1 3>&- &
  echo $! >serve.pid
  for _ in $(seq 100); do [ -s ready ] && break || sleep 0.1; done
  export FROSTLINE_CONNECT=$(cat ready)
}

teardown_file() { kill "$(cat "$BATS_FILE_TMPDIR/serve.pid")"; }

setup() { cd "$BATS_TEST_TMPDIR"; }

# says TEXT…: the output has each.
says() {
  for text in "$@"; do
    [[ $output == *"$text"* ]] || {
      echo "'$text' is not in: $output"
      return 1
    }
  done
}

@test "the demo says what it left and how to look at it" {
  output=$(cat "$BATS_FILE_TMPDIR/demo.log")
  says "study example: 200 recorded trials" "serve --data" "report example"
}

@test "it is finished, with all its trials" {
  run frostline study show example
  [ "$status" -eq 0 ]
  says "200"
}

@test "its best trials, importance and plan are told" {
  run frostline trial list example --best --limit 10
  [ "$status" -eq 0 ]
  run frostline importance example
  [ "$status" -eq 0 ]
  says "layer.2" "layer.3"
  run frostline plan example
  [ "$status" -eq 0 ]
  says "layer.0"
}

@test "its report has pictures" {
  frostline report example -o example.html
  grep -q '<svg' example.html
}

@test "it lies beside the live one" {
  run frostline study list
  [ "$status" -eq 0 ]
  says "demo" "example"
}

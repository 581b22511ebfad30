# SPDX-License-Identifier: Apache-2.0
# The finished study of `frostline demo --example` fills every screen.
load coordinator.bash

setup_file() {
  begin_in_own_folder
  timeout 120 frostline demo --synthetic --trials 8 --example --dir demo \
    >demo.log 2>&1 3>&-
  serve_from demo
}

teardown_file() { end_serving; }

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "the demo says what it left and how to look at it" {
  output=$(cat "$BATS_FILE_TMPDIR/demo.log")
  says "study example: 200 recorded trials"
  # At the end, when its own coordinator has let go of the folder.
  output=$(sed -n '/^Next, type/,$p' "$BATS_FILE_TMPDIR/demo.log")
  says "serve --data demo &" "study show demo" \
    "report example -o example.html"
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

@test "where too few of its trials are to count, it says what lets more" {
  for narrow in "--top 1%" "--filter 'accuracy > 0.99'"; do
    run eval frostline importance example "$narrow"
    [ "$status" -ne 0 ]
    says "at least 8 are needed" "let more of its 200 trials count"
    [[ $output != *"--budget"* ]]
  done
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

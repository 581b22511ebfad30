# SPDX-License-Identifier: Apache-2.0
# `frostline predict` with the real trainer, without a coordinator: a tiny model
# as transformers saves it answers for rows of its user.
load ../support/wait_for.bash

setup_file() {
  export HOME=$BATS_FILE_TMPDIR
  cd "$BATS_FILE_TMPDIR"
  cp -r "$FROSTLINE_SOURCE_DIR/tests/parity/data/models/bert-seq2" model
  { printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]'
    seq -f 'w%g' 0 134; } >model/vocab.txt
  { echo nr,review,label
    for i in $(seq 40); do echo "$i,w$i w$((i * 7 % 130)),LABEL_$((i % 2))"; done
  } >rows.csv
  cut -d, -f1,2 rows.csv >new.csv
}

setup() {
  cd "$BATS_FILE_TMPDIR"
}

@test "labelled rows are measured, and the surest and least sure are shown" {
  run frostline predict model rows.csv --count 2
  echo "$output"
  [ "$status" -eq 0 ]
  says "40 examples of rows.csv" "accuracy" "wrong, and most confident" \
    "right, and least confident" "LABEL_0"
}

@test "rows without labels are answered on standard output" {
  run frostline predict model new.csv
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = $'label\tprediction\tconfidence\ttext' ]
  [ "${#lines[@]}" -eq 41 ]
}

@test "the answers are the same with labels and without" {
  frostline predict model rows.csv -o with.tsv >with.log
  frostline predict model rows.csv --no-labels -o without.tsv >without.log
  diff <(cut -f2- with.tsv) <(cut -f2- without.tsv)
  [ "$(cut -f1 without.tsv | sort -u | wc -l)" -eq 2 ]
  grep -q 'predictions are in without.tsv' without.log
}

@test "the measures come as JSON" {
  run frostline predict model rows.csv --json
  [ "$status" -eq 0 ]
  echo "$output" | python3 -c 'import json, sys
told = json.load(sys.stdin)
assert told["examples"] == 40 and told["output"] is None, told
assert 0 <= told["metrics"]["accuracy"] <= 1, told'
}

@test "a decoder says its answers, and those that are known are set beside" {
  samples=$FROSTLINE_SOURCE_DIR/recipes/samples
  run frostline predict "$samples/tiny-decoder" "$samples/asked-dev.jsonl" \
    --max-length 160 --count 2
  echo "$output"
  [ "$status" -eq 0 ]
  says "20 examples of" "exact_match" "perplexity" "wrong, the first ones" \
    "wanted" " the fence" "What did Anna paint?"
  fails grep -q residuals <<<"$output"
  run frostline predict "$samples/tiny-decoder" "$samples/asked-dev.jsonl" \
    --max-length 160 --no-labels
  [ "${lines[0]}" = $'label\tprediction\ttext' ]
}

@test "what cannot be answered is refused with what to do, and writes nothing" {
  echo "text,label" >odd.csv
  echo "w1,sunny" >>odd.csv
  run frostline predict model odd.csv -o odd.tsv
  echo "$output"
  [ "$status" -ne 0 ]
  says "FL-5014" "sunny" "fix:"
  [ ! -e odd.tsv ]
  run frostline predict nowhere rows.csv
  [ "$status" -ne 0 ]
  says "FL-5010" "nowhere"
  run frostline predict model rows.csv --text opinion
  [ "$status" -ne 0 ]
  says "has no column 'opinion'" "review"
  run frostline predict model rows.csv --trainer /bin/no-such
  [ "$status" -ne 0 ]
  says "FL-5001"
}

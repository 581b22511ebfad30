# SPDX-License-Identifier: Apache-2.0
# Settings in files: who wins, who is told, and what a stranger's file cannot.

load ../support/wait_for.bash

setup() {
  export HOME=$BATS_TEST_TMPDIR/home XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/settings
  unset FROSTLINE_CONNECT FROSTLINE_CONTEXT FROSTLINE_REGISTRY FROSTLINE_PAGER
  unset FROSTLINE_TOKEN_FILE FROSTLINE_TLS_CA NO_COLOR
  mkdir -p "$HOME/work/deep" "$XDG_CONFIG_HOME/frostline"
  MINE=$XDG_CONFIG_HOME/frostline/config.yaml
  PROJECT=$HOME/work/.frostline.yaml
  cd "$HOME/work/deep"
}

# write FILE TEXT: a file that is its user's alone.
write() {
  printf '%b' "$2" >"$1"
  chmod 600 "$1"
}

# origin_of KEY [FLAG…]: who says it.
origin_of() {
  frostline config view --format json "${@:2}" | python3 -c 'import json, sys
for one in json.load(sys.stdin)["settings"]:
    if one["key"] == sys.argv[1]:
        print(one["value"], one["origin"])' "$1"
}

@test "each origin stands before the ones below, and is named" {
  [ "$(origin_of connect)" = "127.0.0.1:7070 default" ]
  write "$MINE" 'connect: mine:1\n'
  [ "$(origin_of connect)" = "mine:1 $MINE:1" ]
  write "$PROJECT" '# ours\nconnect: ours:2\n'
  [ "$(origin_of connect)" = "ours:2 $PROJECT:2" ]
  export FROSTLINE_CONNECT=env:3
  [ "$(origin_of connect)" = 'env:3 $FROSTLINE_CONNECT' ]
  [ "$(origin_of connect --connect flag:4)" = "flag:4 --connect" ]
}

@test "a command that fails to connect had the file's coordinator" {
  write "$PROJECT" 'connect: 127.0.0.1:1\n'
  run frostline status
  echo "$output"
  [ "$status" -eq 7 ]
  [[ $output == *"127.0.0.1:1"* ]]
}

@test "a mistake ends commands with its place, but not those that mend it" {
  write "$MINE" 'format: wide\nregistri: x\n'
  run frostline registry list
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *"$MINE:2:1: there is no key 'registri'"* ]]
  [[ $output == *"did you mean 'registry'?"* ]]
  frostline config path
  frostline version
  run frostline doctor --only configuration
  [ "$status" -eq 1 ]
  [[ $output == *"critical"*"registri"* ]]
}

@test "settings that cannot be read hinder nobody who says where to go" {
  XDG_CONFIG_HOME=/$(printf 'x%.0s' {1..300})
  run frostline status --connect 127.0.0.1:1
  echo "$output"
  [ "$status" -eq 7 ]
  says "warning: settings cannot be read" "127.0.0.1:1"
  run frostline status
  echo "$output"
  [ "$status" -eq 2 ]
  says "FL-1016" "settings cannot be read" "--connect HOST:PORT"
}

@test "view shows what holds beside a mistake" {
  write "$MINE" 'format: wide\n'
  write "$PROJECT" '# ours\nregistri: x\n'
  run frostline config view --format table
  echo "$output"
  [ "$status" -eq 0 ]
  says "$PROJECT:2:1: there is no key 'registri'" "$MINE:1"
  run frostline config set registry shelf --project
  [ "$status" -eq 2 ]
  says "$PROJECT:2:1"
}

@test "a folder that cannot be looked into has no files" {
  XDG_CONFIG_HOME=/$(printf 'x%.0s' {1..300}) run frostline config path
  echo "$output"
  [ "$status" -eq 0 ]
  says "(not there)"
}

@test "set writes what holds from then on, and keeps comments" {
  frostline config set registry shelf
  [ "$(origin_of registry)" = "$PWD/shelf $MINE:1" ]
  [ "$(stat -c %a "$MINE")" = 600 ]
  write "$MINE" '# why\nregistry: /a\ncolor: never # eyes\n'
  frostline config set registry /b
  grep -q '^# why$' "$MINE"
  grep -q '^registry: /b$' "$MINE"
  run frostline config set color auto
  echo "$output"
  [ "$status" -eq 2 ]
  grep -q '# eyes' "$MINE"
  frostline config set connect '[::1]:7070' --project
  [ "$(origin_of connect)" = "[::1]:7070 $PWD/.frostline.yaml:1" ]
}

@test "unset takes a setting out, and what was default holds again" {
  write "$MINE" '# why\nregistry: /a\ncolor: never # eyes\n'
  frostline config unset registry
  [ "$(origin_of registry)" = "registry default" ]
  [ "$(cat "$MINE")" = "# why"$'\n'"color: never # eyes" ]
  run frostline config unset registry
  [[ $output == *"was not set"* ]]
  for words in "colour" "color"; do
    run frostline config unset $words
    echo "$words: $output"
    [ "$status" -eq 2 ]
  done
  grep -q '# eyes' "$MINE"
}

@test "what cannot be set changes nothing" {
  for words in "formatt wide" "format xml" "connect nowhere" \
    "token_file t --project" "token_file t"; do
    run frostline config set $words
    echo "$words: $output"
    [ "$status" -eq 2 ]
  done
  [ ! -e "$MINE" ]
  [ ! -e .frostline.yaml ]
}

@test "a registry of a file is where registry verbs look" {
  mkdir -p "$HOME/work/shelf"
  write "$PROJECT" 'registry: shelf\n'
  run frostline registry list
  echo "$output"
  [[ $output == *"$HOME/work/shelf is empty"* ]]
  FROSTLINE_REGISTRY=$HOME run frostline registry list
  [[ $output == *"$HOME is empty"* ]]
}

@test "a project that anybody may write is ignored, and that is said" {
  write "$PROJECT" 'connect: evil:1\n'
  chmod 666 "$PROJECT"
  run frostline config view
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"warning: $PROJECT is ignored"* ]]
  [[ $output != *"evil"* ]]
}

@test "a project names no credential, and gets none" {
  write "$PROJECT" 'connect: evil:1\ntoken_file: t\n'
  run frostline status
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *":2:1: a project file may not say token_file"* ]]
  write "$PROJECT" 'connect: evil:1\n'
  export FROSTLINE_TOKEN_FILE=$HOME/token
  [ "$(origin_of token_file)" = " default" ]
  [ "$(origin_of token_file --connect lab:1)" = \
    "$HOME/token \$FROSTLINE_TOKEN_FILE" ]
}

@test "a format of a file is for terminals alone" {
  write "$MINE" 'format: json\n'
  export FROSTLINE_PAGER=  # none: nobody is there to leave it
  run frostline config view
  [[ $output == KEY* ]]
  run python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
    frostline config view </dev/null
  echo "$output"
  [[ $output == *'"settings"'* ]]
  run python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
    frostline config view --format table </dev/null
  [[ $output == *KEY* ]]
}

# SPDX-License-Identifier: Apache-2.0
# Man pages and completions, held against what the programs say now.

HERE=$(cd "$(dirname "$BATS_TEST_FILENAME")" && pwd)

setup_file() {
  export PAGES=$BATS_FILE_TMPDIR/pages BIN
  BIN=$(dirname "$(command -v frostline)")
  python3 -B "$HERE/../../../scripts/pages.py" "$BIN" "$PAGES"
  python3 -B "$HERE/page_cases.py" "$BIN" >"$BATS_FILE_TMPDIR/cases"
}

# says_all SHELL…: completes every case; what is missing is printed.
says_all() {
  for program in frostline frostline-coordinator frostline-worker; do
    grep -P "^$program[ \t]" "$BATS_FILE_TMPDIR/cases" >cases
    [ "$(wc -l <cases)" -gt 20 ]
    # On a busy machine an answer may come too late, and is then none.
    for _ in 1 2 3; do
      "$@" "$program" <cases >missing
      [ -s missing ] || break
      sed 's/ -> /\t/' missing >cases
    done
    head -n 20 missing
    [ ! -s missing ]
  done
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "bash completes every command and flag" {
  says_all bash --norc "$HERE/complete.bash" "$PAGES"
}

@test "zsh completes every command and flag" {
  command -v zsh || skip "zsh is missing"
  says_all zsh -f "$HERE/complete.zsh" "$PAGES"
}

@test "fish completes every command and flag" {
  command -v fish || skip "fish is missing"
  export HOME=$PWD
  says_all fish --no-config "$HERE/complete.fish" "$PAGES"
}

@test "a flag's value is no command, and a file is completed" {
  touch ca.pem
  run bash --norc "$HERE/complete.bash" "$PAGES" frostline <<END
frostline --context study st	study
frostline study create --registry x --dry	--dry-run
frostline --tls-ca ca	ca.pem
END
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "man takes every page without a warning" {
  command -v man || skip "man is missing"
  for page in "$PAGES"/man1/*.1; do
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
      man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>warnings
    cat warnings
    [ ! -s warnings ]
  done
}

@test "every command and flag is in the manual" {
  command -v man || skip "man is missing"
  MANWIDTH=200 man -E UTF-8 -l "$PAGES/man1/frostline.1" | col -b >frostline.txt
  while IFS=$'\t' read -r words name; do
    case $words in
      'frostline serve' | 'frostline worker') continue ;; # the others' flags
      frostline*-*) continue ;;
    esac
    grep -qF -- "$name" frostline.txt || echo "$words $name"
  done <"$BATS_FILE_TMPDIR/cases" >missing
  cat missing
  [ ! -s missing ]
}

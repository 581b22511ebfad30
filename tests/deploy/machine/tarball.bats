# SPDX-License-Identifier: Apache-2.0
# The tarball, in an older Debian (glibc 2.31) that has nothing of what
# Frostline needs.

bats_require_minimum_version 1.5.0
load world.bash
# shellcheck source=tests/support/page_block.bash
source "$SOURCE/tests/support/page_block.bash"

setup_file() {
  fresh_root bullseye || return 0
  cp "$(pack 0.1.0 tarball)" "$ROOT/srv/"
  # As the page says, then moved.
  page_block how-to/install.md "tar -xzf" | grep -v package.sh >"$ROOT/srv/page.sh"
  chroot "$ROOT" /bin/sh -ec 'cd /srv && . ./page.sh && frostline --version' \
    >"$BATS_FILE_TMPDIR/first"
  mv "$ROOT"/opt/frostline-* "$ROOT/opt/frostline"
  ln -sf ../../../opt/frostline/bin/frostline "$ROOT/usr/local/bin/frostline"
  mount -t proc proc "$ROOT/proc"
}

setup() { skip_if_left_out; }

teardown_file() {
  [ ! -s "$BATS_FILE_TMPDIR/serve.pid" ] || kill "$(cat "$BATS_FILE_TMPDIR/serve.pid")" || true
  umount -l "$ROOT/proc" 2>/dev/null || true
}

in_root() { chroot "$ROOT" "$@"; }
answers() { in_root frostline status --connect "$(cat "$ROOT/srv/ready")" --wait 0s; }

@test "the machine is older than what Frostline was built on" {
  run in_root ldd --version
  [[ $output == *2.31* ]]
  # Else the next test would show nothing.
  cp "$(command -v frostline)" "$ROOT/opt/as-built"
  run -127 in_root /opt/as-built --version
}

@test "coordinator and command line run there, by a link too" {
  grep -q '^frostline ' "$BATS_FILE_TMPDIR/first"
  run in_root frostline --version
  [[ $output == frostline\ * ]]
  ln -sf frostline "$ROOT/usr/local/bin/frost" # a link to a link
  [ "$(in_root frost --version)" = "$output" ]
  chroot "$ROOT" /bin/sh -c 'cd /srv && exec frostline serve --data data \
    --listen 127.0.0.1:0 --ready-file ready' >"$BATS_FILE_TMPDIR/serve.log" 2>&1 3>&- &
  echo $! >"$BATS_FILE_TMPDIR/serve.pid"
  wait_for 30 test -s "$ROOT/srv/ready"
  answers
  cp "$SOURCE/recipes/demo/study.yaml" "$ROOT/srv/"
  in_root frostline --connect "$(cat "$ROOT/srv/ready")" study create /srv/study.yaml
  # A worker of another machine: here one of this build.
  frostline worker --connect "$(cat "$ROOT/srv/ready")" --exec frostline-demo-trainer \
    --run-dir "$BATS_TEST_TMPDIR/runs" --idle-timeout 1s
  in_root frostline --connect "$(cat "$ROOT/srv/ready")" study show demo | grep COMPLETED
}

@test "nothing of the machine's libraries is used" {
  pid=$(cat "$BATS_FILE_TMPDIR/serve.pid")
  run grep -E ' /.*\.so' "/proc/$pid/maps"
  [ "$status" -eq 0 ]
  [ -z "$(grep -v /opt/frostline/ <<<"$output")" ]
}

@test "words reach the program as they are, and its exit code comes back" {
  # By somebody who is not root, too.
  run chroot --userspec=65534:65534 "$ROOT" /usr/local/bin/frostline study show "no such study"
  [ "$status" -eq 2 ]
  [[ $output == *"no such study"* ]]
}

@test "pages and completions are beside it, each of its program" {
  local share=$ROOT/opt/frostline/share
  for name in frostline frostline-coordinator; do
    gzip -dc "$share/man1/$name.1.gz" | grep -qi "^\.TH \"\?${name//-/\\\\\\?-}"
    for file in "bash/$name" "zsh/_$name" "fish/$name.fish"; do
      grep -q "$name" "$share/$file"
    done
  done
  [ -s "$share/frostline.v1.binpb" ]
}

@test "every library comes with its licence, and Frostline with its own" {
  local library owner
  [ "$(find "$ROOT/opt/frostline/lib" -name '*.so*' | wc -l)" -ge 20 ]
  for library in "$ROOT"/opt/frostline/lib/*; do
    owner=$(dpkg-query -S "*/$(uname -m)-linux-gnu/$(basename "$library")" | head -n 1 | cut -d : -f 1)
    [ -s "$ROOT/opt/frostline/share/licenses/$owner" ] || {
      echo "$library of $owner has no licence there"
      return 1
    }
  done
  cmp "$SOURCE/LICENSE" "$ROOT/opt/frostline/LICENSE"
}

@test "what is unpacked by root is root's" {
  [ -z "$(tar --numeric-owner -tvzf "$ROOT"/srv/frostline-*.tar.gz | grep -v ' 0/0 ')" ]
}

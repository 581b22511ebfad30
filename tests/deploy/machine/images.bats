# SPDX-License-Identifier: Apache-2.0
# Images of coordinator and worker, built by buildah and run as two containers
# on the host's network. FROSTLINE_IMAGES=1 runs it: it needs a minute and two
# gigabytes.

bats_require_minimum_version 1.5.0
load world.bash

setup_file() {
  [ -n "${FROSTLINE_IMAGES:-}" ] || {
    leave_out "FROSTLINE_IMAGES=1 builds images"
    return 0
  }
  has buildah mmdebstrap cpack || return 0
  export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
  export CONTAINERS_STORAGE_CONF=$BATS_FILE_TMPDIR/storage.conf
  printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' \
    "$BATS_FILE_TMPDIR/graph" "$BATS_FILE_TMPDIR/run" >"$CONTAINERS_STORAGE_CONF"
  base=$(buildah from scratch)
  buildah add -q "$base" "$("$HERE/make_root.sh" bookworm)" /
  buildah commit -q --rm "$base" frostline-base
  pack 0.1.0 deb
}

teardown_file() {
  for name in coordinator worker; do
    [ ! -s "$BATS_FILE_TMPDIR/$name.pid" ] ||
      kill -9 "$(cat "$BATS_FILE_TMPDIR/$name.pid")" 2>/dev/null || true
  done
}

setup() {
  skip_if_left_out
  cd "$BATS_FILE_TMPDIR" || return 1
}

# image NAME: of packages and a base that has all they need.
image() {
  "$SOURCE/deploy/container/build.sh" --packages "$BATS_FILE_TMPDIR/0.1.0" \
    --build-arg BASE=localhost/frostline-base --build-arg UPDATE=true \
    --build-arg SYSUSERS= "$1"
}
config() { buildah inspect --type image --format "$2" "frostline-$1"; }

# container NAME WORDS…: runs the image's entry point, as its user.
container() {
  local box
  box=$(buildah from "frostline-$1")
  buildah run "$box" -- "${@:2}" >"$1.log" 2>&1 3>&- &
  echo $! >"$1.pid"
}
# The process of that name below one that we began.
inner() {
  local pid=$1 child
  for child in $(pgrep -P "$pid"); do
    if [ "$(cat "/proc/$child/comm")" = "$2" ]; then echo "$child"; else inner "$child" "$2"; fi
  done
}

@test "images are built, of a user that is not root" {
  for name in coordinator worker; do
    image "$name"
    [ "$(config "$name" '{{.Docker.Config.User}}')" = 10001:10001 ]
  done
  [[ $(config coordinator '{{.Docker.Config.Healthcheck.Test}}') == *"frostline status"* ]]
  [[ $(config coordinator '{{.Docker.Config.Entrypoint}}') == *frostline-coordinator* ]]
}

@test "two containers finish a study, and end within the grace" {
  container coordinator frostline-coordinator --data /data --listen 127.0.0.1:0
  wait_for 30 grep -q '^listening on' coordinator.log
  address=$(sed -n 's/^listening on //p' coordinator.log)
  export FROSTLINE_CONNECT=$address
  frostline status --wait 0s # the health check
  container worker frostline-worker --run-dir /runs --connect "$address" \
    --exec frostline-demo-trainer
  frostline study create "$SOURCE/recipes/demo/study.yaml" --trials 6
  timeout 60 frostline study watch demo --until-done
  for name in worker coordinator; do
    pid=$(inner "$(cat "$name.pid")" "$(cut -c1-15 <<<"frostline-$name")")
    [ "$(stat -c %u "/proc/$pid")" -eq 10001 ]
    kill -TERM "$pid"
    wait_for 10 gone "$pid"
    rm "$name.pid"
  done
  grep -q 'stopping' coordinator.log
}

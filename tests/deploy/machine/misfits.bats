# SPDX-License-Identifier: Apache-2.0
# Workers that do not fit: of another version, or with GPUs that no driver
# serves. Each is served, or told what is wrong.

load world.bash

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset CUDA_VISIBLE_DEVICES
  frostline serve --data data --listen 127.0.0.1:0 --ready-file ready \
    >serve.log 2>&1 3>&- &
  echo $! >serve.pid
  wait_for 30 test -s ready
  FROSTLINE_CONNECT=$(cat ready)
  export FROSTLINE_CONNECT
  OURS=$(frostline --version | cut -d ' ' -f 2)
}

teardown() {
  [ -n "$BATS_TEST_COMPLETED" ] || tail -n 20 -- *.log >&2
  [ ! -e serve.pid ] || kill -9 "$(cat serve.pid)" 2>/dev/null || true
}

# of_version N: the worker, as if it were N minor versions newer; its name is in
# $WORKER. In a program "0.1." stands in one piece, mostly within an instruction.
of_version() {
  local theirs ours=${OURS%.*}.
  theirs=$(awk -F. -v more="$1" '{ print $1 "." $2 + more "." }' <<<"$OURS")
  WORKER=$PWD/worker-$theirs${OURS##*.}
  LC_ALL=C sed "s/${ours//./\\.}/$theirs/g" "$(command -v frostline-worker)" >"$WORKER"
  chmod +x "$WORKER"
  [ "$("$WORKER" --version)" = "frostline-worker $theirs${OURS##*.}" ] ||
    skip "this compiler keeps the version in another form"
}

# It names a model and data whose files are not there, which a worker takes.
empty_registry() {
  mkdir registry bin
  cp "$(command -v frostline-worker)" bin/
  # By its name frostline's trainer; none is begun here.
  ln -s "$(command -v frostline-demo-trainer)" bin/frostline-trainer
  export PATH=$PWD/bin:$PATH
  printf 'tiny: {path: tiny, sha256: "%064d"}\n' 0 >registry/models.yaml
  cat >registry/datasets.yaml <<'END'
tiny:
  task: classification
  format: tsv
  header: true
  splits:
    train:
      path: train.tsv
      sha256: 0000000000000000000000000000000000000000000000000000000000000000
END
}

@test "a worker of the next minor version is served" {
  of_version 1
  frostline study create "$SOURCE/recipes/demo/study.yaml" --trials 3
  timeout 60 "$WORKER" --exec frostline-demo-trainer --study demo \
    --exit-when-done >worker.log 2>&1
  frostline study show demo | grep -q COMPLETED
}

@test "one that is further away is told which ones are served" {
  of_version 2
  run timeout 60 "$WORKER" --exec frostline-demo-trainer
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *"error[FL-1016]"*"worker.version"*"this coordinator, $OURS, serves workers of "* ]]
  [[ $output == *"start a worker of ${OURS%.*}"* ]]
}

@test "with --slots gpu a node without a GPU is refused, and an image without its driver" {
  if ldconfig -p | grep -q 'libcuda\.so\.1'; then skip "there is a driver here"; fi
  empty_registry
  run frostline-worker --registry registry --slots gpu
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *"error[FL-1016]"*"this node has no GPU to see"* ]]
  # As Slurm and NVIDIA's device plugin name them.
  run env CUDA_VISIBLE_DEVICES=0,1 frostline-worker --registry registry --slots gpu
  echo "$output"
  [ "$status" -eq 2 ]
  [[ $output == *"error[FL-1016]"*"2 GPUs to see, but no driver (libcuda.so.1)"*"container toolkit"* ]]
}

@test "with a number of slots it trains on the processor, and says so" {
  if ldconfig -p | grep -q 'libcuda\.so\.1'; then skip "there is a driver here"; fi
  empty_registry
  CUDA_VISIBLE_DEVICES=0 timeout 60 frostline-worker --registry registry --slots 1 \
    --idle-timeout 1s >worker.log 2>&1
  grep -q 'gpu_without_driver.*no driver (libcuda.so.1)' worker.log
  grep -q registered worker.log
}

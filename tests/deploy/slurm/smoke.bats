# SPDX-License-Identifier: Apache-2.0
# A study on a real Slurm from beginning to end, and what is refused.

load fleet.bash

@test "an array of workers finishes a study, each trial once" {
  local start
  start=$(millis)
  cluster_up 2 2
  figure "two nodes idle after $(($(millis) - start)) ms"
  serve
  study smoke 20 4 0.1
  start=$(millis)
  run frostline slurm up smoke --max 4 --exec frostline-demo-trainer --run-dir runs
  [ "$status" -eq 0 ]
  says "frostline-smoke: array" "of 4 workers, 4 at a time (20 trials left"
  ARRAY=$(grep -oE 'array [0-9]+' <<<"$output" | grep -oE '[0-9]+')
  # Nobody reads an invitation but its owner; no command line shows one.
  [ "$(stat -c %a frostline-slurm/smoke-*)" = 700 ]
  [ "$(stat -c %a frostline-slurm/smoke-*/join)" = 600 ]
  [ "$(wc -l <frostline-slurm/smoke-*/join)" -eq 4 ]
  [ -z "$(scontrol -o show job "$ARRAY" | grep frost_)" ]
  wait_for 30 has_states smoke SUCCEEDED 2
  run frostline slurm status smoke
  says "${ARRAY}_0" RUNNING ACTIVE n1 n2
  run frostline slurm up smoke --max 4 --exec frostline-demo-trainer
  [ "$status" -eq 5 ]
  says FL-4027 "there is a fleet of this name" "slurm scale smoke"
  await_end smoke 60
  figure "20 trials on 4 workers after $(($(millis) - start)) ms"
  judge smoke 20
  wait_for 30 has_no_task
  job_is 0 COMPLETED
  # All four took part, each under its own name.
  [ "$(frostline trial list smoke --json | grep '"worker"' | sort -u | wc -l)" -eq 4 ]
}

@test "scancel stays a cancel, and hands the trials back" {
  cluster_up 1 2
  serve
  study long 2 100 0.2
  up long 2
  wait_for 30 has_states long RUNNING 2
  scancel "$ARRAY"
  wait_for 30 has_states long QUEUED 2
  sleep 8 # a requeued job would run again after 6 s
  job_is 0 CANCELLED
  job_is 1 CANCELLED
  has_no_task
  # They come back with the next array, from where they were.
  frostline trial show long 0 --json | grep -q '"checkpoint"'
}

@test "what cannot be is refused, and leaves nothing behind" {
  cluster_up 1 1
  serve
  study bad 3 2 0.1
  local words=(frostline slurm up bad --exec frostline-demo-trainer)
  run "${words[@]}" --partition gold
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "invalid partition specified: gold" "sinfo" --partition
  run "${words[@]}" --max 2000
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "Invalid job array specification" --max
  run "${words[@]}" --gres gpu:9
  [ "$status" -eq 5 ]
  says "error[FL-4027]" "configuration is not available" --gres
  [ -z "$(ls frostline-slurm)" ]
  [ "$(frostline token list | grep -c "slurm up")" -ge 1 ]
  [ -z "$(frostline token list | grep "slurm up" | grep -v revoked)" ]
  run frostline slurm up nowhere --exec frostline-demo-trainer
  [ "$status" -eq 3 ]
  run frostline slurm up bad --all --exec frostline-demo-trainer
  [ "$status" -eq 2 ]
  run frostline slurm up bad
  [ "$status" -eq 2 ]
  says --registry --exec
  run frostline slurm scale bad
  [ "$status" -eq 5 ]
  says "no task of frostline-bad"
  run env FROSTLINE_CONNECT=127.0.0.1:1 "${words[@]}"
  [ "$status" -eq 7 ]
  run env PATH="$(dirname "$(command -v frostline)")" frostline slurm status bad
  [ "$status" -eq 5 ]
  says "error[FL-4026]" "sbatch is not in the PATH"
  run "${words[@]}" --dry-run
  [ "$status" -eq 0 ]
  says "sbatch --parsable '--job-name=frostline-bad'" "nothing was submitted"
  [ -z "$(squeue -h)" ]
}

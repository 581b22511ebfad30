# SPDX-License-Identifier: Apache-2.0
"""judge.py STUDY TRIALS [--lost N] [--late N]: whether each of a study's trials
succeeded exactly once, N of their leases were lost, and N results came after
another was accepted, by the coordinator's own record: its trials, and the audit
of who was given which trial and who ended it."""
import argparse
import collections
import json
import subprocess
import sys


def frostline(*words):
    done = subprocess.run(["frostline", *words], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"frostline {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def faults(trials, entries, wanted):
    """What is wrong, in sentences."""
    given, ended = collections.Counter(), collections.Counter()
    for entry in entries:
        if entry["outcome"] == "OK":
            given[entry["resource"]] += entry["method"] == "WorkerService.Acquire"
            ended[entry["resource"]] += entry["method"] == "WorkerService.Finish"
    if len(trials) != wanted.trials:
        yield f"{len(trials)} trials, not {wanted.trials}"
    for trial in trials:
        name, attempts = trial["name"], int(trial["attempt"])
        if trial["state"] != "TRIAL_STATE_SUCCEEDED":
            yield f"{name} is {trial['state']}: {trial['cause']}"
        if given[name] != attempts:
            yield f"{name} was given {given[name]} times in {attempts} attempts"
        if ended[name] < 1:
            yield f"{name} was never ended"
    lost = sum(int(trial["attempt"]) - 1 for trial in trials)
    if lost != wanted.lost:
        yield f"{lost} leases were lost, not {wanted.lost}"
    late = sum(ended.values()) - len(trials)
    if late != wanted.late:
        yield f"{late} results came late, not {wanted.late}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("study")
    parser.add_argument("trials", type=int)
    parser.add_argument("--lost", type=int, default=0)
    parser.add_argument("--late", type=int, default=0)
    wanted = parser.parse_args()
    trials = json.loads(
        frostline("trial", "list", wanted.study, "--json"))["trials"]
    lines = frostline("audit", "--study", wanted.study, "--limit", "100000", "--json")
    entries = [json.loads(line) for line in lines.splitlines()]
    found = list(faults(trials, entries, wanted))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

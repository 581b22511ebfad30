# SPDX-License-Identifier: Apache-2.0
# Any method of the contract by its name, against a real coordinator.
load coordinator.bash

SOURCE=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
TOY=$SOURCE/recipes/demo/study.yaml

setup_file() {
  begin_in_own_folder
  serve_from frost
  frostline study create "$TOY" --id toy >create.log
}

teardown_file() { end_serving; }

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "one answer is the contract's message, as of its own verb" {
  frostline rpc GetStudy '{"name": "studies/toy"}' >rpc.json
  frostline study show toy --json >show.json
  python3 -c 'import json
rpc, show = (json.load(open(name + ".json")) for name in ("rpc", "show"))
assert rpc["name"] == "studies/toy"
assert rpc["spec"] == show.get("study", show)["spec"]'
}

@test "a method has three names, and requests three ways in" {
  run frostline rpc studyservice.getstudy '{"name": "studies/toy"}'
  [ "$status" -eq 0 ]
  echo '{"name": "studies/toy"}' >request.json
  run frostline rpc frostline.v1.StudyService/GetStudy @request.json
  [ "$status" -eq 0 ]
  run sh -c 'frostline rpc GetStudy - <request.json'
  [ "$status" -eq 0 ]
  says '"name": "studies/toy"'
}

@test "a coordinator says what it stands on" {
  frostline rpc GetInfo '{}' >info.json
  python3 -c 'import json, sqlite3, sys
info = json.load(open("info.json"))
store = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
(version,) = store.execute("PRAGMA user_version").fetchone()
assert info["schema_version"] == version > 0
assert set(info["libraries"]) == {"gRPC", "Protobuf", "SQLite"}
assert info["libraries"]["SQLite"] in info["store"]
assert info["known_holes"] == []' "$BATS_FILE_TMPDIR/frost/frostline.sqlite"
}

@test "a request changes what it says, and has its id made up" {
  run frostline rpc PauseStudy '{"name": "studies/toy"}'
  [ "$status" -eq 0 ]
  says '"state": "STUDY_STATE_PAUSED"'
  run frostline rpc ResumeStudy '{"name": "studies/toy"}'
  says '"state": "STUDY_STATE_ACTIVE"'
}

@test "an export comes as an object a line" {
  frostline rpc ExportTrials '{"name": "studies/toy", "format": "CSV"}' >lines
  [ -s lines ]
  python3 -c 'import json
for line in open("lines"):
    assert isinstance(json.loads(line), dict), line'
}

@test "a watch tells of a change when it comes" {
  frostline rpc WatchStudy '{"name": "studies/toy"}' >events 3>&- &
  watcher=$!
  sleep 1
  frostline rpc UpdateStudy '{"name": "studies/toy", "updateMask": "notes",
    "settings": {"notes": "seen from afar"}}' >updated
  wait_for 20 grep -q "seen from afar" events
  kill "$watcher"
  [ "$(grep -c '^{.*}$' events)" -eq "$(wc -l <events)" ]
}

@test "the coordinator's errors are told as those of every verb" {
  run frostline rpc GetStudy '{"name": "studies/none"}'
  [ "$status" -eq 3 ]
  says "error[FL-2001]"
  run frostline rpc Suggest '{}'
  [ "$status" -eq 100 ]
  says "error[FL-1009]" "at: objectives"
  FROSTLINE_CONNECT=127.0.0.1:1 run frostline rpc WhoAmI
  [ "$status" -eq 7 ]
}

@test "unknown methods and fields are refused before anything is sent" {
  run frostline rpc GetStudi
  [ "$status" -eq 2 ]
  says "did you mean 'GetStudy'?"
  run frostline rpc GetStudy '{"nme": "studies/toy"}'
  [ "$status" -eq 2 ]
  says "unknown field 'nme' in GetStudyRequest" "did you mean 'name'?"
  run frostline rpc GetStudy 'name: toy'
  [ "$status" -eq 2 ]
  run frostline rpc
  [ "$status" -eq 2 ]
  says "frostline rpc --list"
}

@test "methods are listed, and a template of each is a request" {
  run frostline rpc --list
  [ "$status" -eq 0 ]
  says "StudyService.CreateStudy" "WorkerService.Acquire" "StudyService.Suggest"
  frostline rpc ListStudies --template >request.json
  grep -q '// ' request.json
  run frostline rpc ListStudies @request.json
  [ "$status" -eq 0 ]
  says '"studies": ['
}

@test "what a field means is explained without a coordinator" {
  export FROSTLINE_CONNECT=127.0.0.1:1
  run frostline explain study.space.levels
  [ "$status" -eq 0 ]
  says "study.space.modules.levels" "Learning rates on an ordered list"
  run frostline explain FL-2001
  says "STUDY_NOT_FOUND" "Exit code 3"
  run frostline explain study.spase
  [ "$status" -eq 2 ]
  says "did you mean 'space'?"
  run frostline explain exit-codes
  [ "$status" -eq 2 ]
  says "frostline help exit-codes"
}

@test "a schema is written where it is wanted" {
  run frostline schema study -o study.schema.json
  [ "$status" -eq 0 ]
  python3 -m json.tool study.schema.json >/dev/null
  run frostline schema study -o study.schema.json
  [ "$status" -eq 2 ]
  says "is there already" "--force"
  frostline schema study -o study.schema.json --force
  frostline schema study -o - | cmp - study.schema.json
  [ ! -e ./- ]
  run frostline schema studdy
  [ "$status" -eq 2 ]
  says "did you mean 'study'?"
}

// SPDX-License-Identifier: Apache-2.0
//
// A study that moves from SQLite to a real PostgreSQL and back while it runs,
// with the real programs, beside one that stays: both propose and run the same.
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/postgres_server.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A trainer that says which points it has begun, and takes a moment.
constexpr char kTrainer[] = R"(
import json, sys, time
for line in sys.stdin:
    trial = json.loads(line)
    if trial["type"] == "trial":
        p = trial["parameters"]
        with open("ran.log", "a") as log:
            print(p["x"], p["y"], file=log)
        time.sleep(0.2)
        print(json.dumps({"type": "finish", "state": "succeeded", "metrics":
              {"accuracy": p["x"] * (1 - p["y"])}}), flush=True)
)";

constexpr char kStudy[] = R"(
id: films
model: {id: none, layers: 1}
data: none
trainer: frostline-demo-trainer
sampler: tpe
seed: 7
maximize: accuracy
budget: 30
space:
  parameters:
    x: {float: [0.1, 0.9]}
    y: {float: [0.1, 0.9]}
)";

// serve ARGUMENTS, until stop; begun N: waits until so many trials were begun.
constexpr char kWords[] = R"sh(
serve() {
  rm -f ready
  frostline serve "$@" --listen "$FROSTLINE_CONNECT" --http-listen none \
    --ready-file ready >>serve.log 2>&1 &
  echo $! >serve.pid
  for _ in $(seq 400); do [ ! -s ready ] || return 0; sleep 0.05; done
  cat serve.log; return 1
}
stop() {
  kill "$@" "$(cat serve.pid)" || return 1
  while kill -0 "$(cat serve.pid)" 2>/dev/null; do sleep 0.02; done
}
begun() {
  for _ in $(seq 1200); do
    [ "$(wc -l 2>/dev/null <ran.log)" -lt "$1" ] || return 0; sleep 0.05
  done
  cat worker.log; return 1
}
work() {
  frostline worker --exec 'python3 trainer.py' --id one \
    --label trainer=frostline-demo-trainer --idle-timeout 20s \
    >worker.log 2>&1 &
  echo $! >worker.pid
}
end_all() {
  for one in serve.pid worker.pid; do
    kill -9 "$(cat "$one")" 2>/dev/null || continue
    while kill -0 "$(cat "$one")" 2>/dev/null; do sleep 0.02; done
  done
}
tell() { frostline study export films -o - --format jsonl | python3 -c '
import json, sys
for line in sys.stdin:
    t = json.loads(line)
    if "attempt" in t:
        print(t["name"], t["state"], t["parameters"], t["metrics"], t["seed"])
'; }
)sh";

class CopyFlowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_.File("trainer.py")) << kTrainer;
    std::ofstream(folder_.File("study.yaml")) << kStudy;
    std::ofstream(folder_.File("words.bash")) << kWords;
  }
  void TearDown() override { Run("end_all"); }

  // The exit code; what was said is in output_.
  int Run(const std::string& command) {
    std::ofstream(folder_.File("command.bash"))
        << "cd '" << folder_.path().string()
        << "'\nset -e\nexport PATH=" << std::getenv("FROSTLINE_BIN_DIR")
        << ":$PATH "
        << "FROSTLINE_CONNECT=unix:$PWD/sock URL='" << url_
        << "'\n. ./words.bash\n"
        << command << "\n";
    const std::string shell =
        "bash '" + folder_.File("command.bash") + "' </dev/null 2>&1";
    std::FILE* const pipe = popen(shell.c_str(), "r");
    output_.clear();
    char buffer[4096];
    for (std::size_t size;
         (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
      output_.append(buffer, size);
    }
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TempFolder folder_;
  const std::string url_ = PostgresServer::Get().EmptyDatabase();
  std::string output_;
};

TEST_F(CopyFlowTest, AStudyGoesOnInTheOtherDatabaseAndBack) {
  ASSERT_EQ(Run("serve --data stays; frostline study create study.yaml; work; "
                "frostline study wait films --timeout 60s; tell >stays.log; "
                "end_all; mv ran.log ran-stays.log"),
            0)
      << output_;
  // It is killed while a trial runs, whose worker goes on.
  ASSERT_EQ(Run("serve --data frost; frostline study create study.yaml; work; "
                "begun 8; stop -9"),
            0)
      << output_;
  ASSERT_EQ(Run("frostline serve --copy-from frost --copy-to \"$URL\""), 0)
      << output_;
  EXPECT_THAT(output_, ContainsRegex("^TABLE +ROWS +DIGEST\n"
                                     "studies +1 +[0-9a-f]{16}\n"));
  EXPECT_THAT(output_, ContainsRegex("\ncopied [0-9]+ rows, equal on both "
                                     "sides, [0-9.]+ s\n$"));
  ASSERT_EQ(Run("mkdir old; mv frost/frostline.sqlite* old; "
                "serve --data frost --store \"$URL\"; begun 18; "),
            0)
      << output_;
  EXPECT_EQ(Run("frostline serve --copy-from \"$URL\" --copy-to back"), 5);
  EXPECT_THAT(output_, HasSubstr("FL-3001"));
  ASSERT_EQ(Run("stop; frostline serve --copy-from \"$URL\" --copy-to frost; "
                "serve --data frost; "
                "frostline study wait films --timeout 60s; tell >moves.log"),
            0)
      << output_;
  // The same trials, each run once.
  EXPECT_EQ(Run("diff stays.log moves.log; diff ran-stays.log ran.log; "
                "[ \"$(wc -l <moves.log)\" = 30 ]"),
            0)
      << output_;
}

TEST_F(CopyFlowTest, WhatIsRefusedIsSaidWithItsFlag) {
  EXPECT_EQ(Run("frostline serve --copy-from none --copy-to x"), 2);
  EXPECT_THAT(output_, HasSubstr("at: --copy-from"));
  EXPECT_EQ(Run("frostline serve --copy-from none"), 2);
  EXPECT_THAT(output_, HasSubstr("--copy-to is missing"));
  EXPECT_EQ(Run("frostline serve --copy-from x --copy-to y --data z"), 2);
  EXPECT_THAT(output_, HasSubstr("--copy-from names its database itself"));
}

}  // namespace
}  // namespace frostline::test

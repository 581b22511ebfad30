// SPDX-License-Identifier: Apache-2.0
//
// Logs of running and ended trials, with the real programs and a heartbeat
// every fifteen seconds: what comes sooner was pushed.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "tests/flow/real_world.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kTrial[] = "studies/a/trials/0";

// Says "tick 1", "tick 2" until the file STOP is there.
constexpr char kLoggingTrainer[] = R"(#!/bin/sh
while read -r line; do
  case "$line" in
    *'"trial"'*)
      echo '{"type":"report","step":0,"metrics":{"accuracy":0.4}}'
      n=0
      while [ ! -e STOP ]; do
        n=$((n + 1)); echo "tick $n" >&2; sleep 0.02
      done
      echo '{"type":"finish","state":"succeeded","metrics":{"accuracy":0.5}}';;
    *'"exit"'*) exit 0;;
  esac
done
)";

std::string Text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

class LogFlowTest : public ::testing::Test {
 protected:
  void StartTrial(const std::string& keep = "useful") {
    ASSERT_OK(world_.CreateStudy(server::ExampleStudy("a", 1)));
    std::string script = kLoggingTrainer;
    script.replace(script.find("STOP"), 4, Path("stop"));
    std::ofstream(Path("ticks.sh")) << script;
    keep_ = keep;
    StartWorker();
    Await(v1::TRIAL_STATE_RUNNING);
  }
  void StartWorker() {
    world_.StartWorkerWith(
        "w", {"--exec", "sh " + Path("ticks.sh"), "--label",
              "trainer=", "--keep", keep_, "--run-dir", Path("runs")});
  }
  void EndTrial() { std::ofstream(Path("stop")) << "\n"; }
  void Await(v1::TrialState state, std::int64_t attempt = 1) {
    for (int i = 0; i < 2000; ++i) {
      const auto trials = world_.ListTrials("studies/a");
      const bool is_so = trials.ok() && trials->size() == 1 &&
                         trials->front().state() == state &&
                         trials->front().attempt() == attempt;
      if (is_so) return;
      std::this_thread::sleep_for(milliseconds(20));
    }
    FAIL() << "the trial is not " << v1::TrialState_Name(state);
  }
  // A trial is RUNNING a moment before its trainer has said a word.
  void AwaitLog(const std::string& words) const {
    std::string log;
    for (int i = 0; i < 500 && log.find(words) == std::string::npos; ++i) {
      log = Run("trial log a 0").out;
    }
    EXPECT_THAT(log, HasSubstr(words));
  }
  std::string Path(const std::string& name) const {
    return world_.folder().File(name);
  }
  std::string Command(const std::string& words) const {
    return absl::StrCat(RealWorld::Binary("frostline"), " --connect ",
                        world_.address(), " ", words, " >", Path("out"), " 2>",
                        Path("err"));
  }
  Ran Run(const std::string& words) const {
    const int status = std::system(Command(words).c_str());
    return {WEXITSTATUS(status), Text(Path("out")), Text(Path("err"))};
  }

  RealWorld world_;
  std::string keep_;
};

// Each is waited for less than a heartbeat.
TEST_F(LogFlowTest, ARunningTrialsLogIsPushedWhenSomebodyAsks) {
  StartTrial();
  std::vector<double> took_ms;
  std::int64_t end = 0;
  for (int ask = 0; ask < 50; ++ask) {
    v1::GetTrialLogRequest request;
    request.set_name(kTrial);
    request.mutable_wait()->set_seconds(5);
    const auto begin = steady_clock::now();
    const auto log = world_.GetTrialLog(request);
    took_ms.push_back(
        std::chrono::duration<double, std::milli>(steady_clock::now() - begin)
            .count());
    ASSERT_OK(log);
    ASSERT_TRUE(log->live()) << "ask " << ask;
    EXPECT_GE(log->place().end(), end);
    end = log->place().end();
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_GT(end, 0);
  std::sort(took_ms.begin(), took_ms.end());
  std::cout << "50 asks: median " << took_ms[25] << " ms, p99 " << took_ms[49]
            << " ms\n";
}

TEST_F(LogFlowTest, FollowPrintsEachLineOnceAndOutlivesTheCoordinator) {
  StartTrial("all");
  int status = 0;
  std::thread follower([this, &status] {
    status = std::system(Command("trial log a 0 --follow").c_str());
  });
  const auto await_words = [this](const std::string& words) {
    for (int i = 0;
         i < 1000 && Text(Path("out")).find(words) == std::string::npos; ++i) {
      std::this_thread::sleep_for(milliseconds(20));
    }
  };
  await_words("tick 20\n");
  const auto seen = Text(Path("out")).size();
  world_.RestartCoordinator();
  for (int i = 0; i < 1000 && Text(Path("out")).size() < seen + 200; ++i) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_GE(Text(Path("out")).size(), seen + 200);
  EndTrial();
  follower.join();
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::vector<std::string> lines =
      absl::StrSplit(Text(Path("out")), '\n', absl::SkipEmpty());
  ASSERT_GT(lines.size(), 20U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i], absl::StrCat("tick ", i + 1));
  }
  // To its last word.
  EXPECT_EQ(Text(Path("out")), Text(Path("runs/trials/a/0/1.log")));
  EXPECT_THAT(Text(Path("err")),
              HasSubstr("studies/a/trials/0 is SUCCEEDED: accuracy 0.5\n"));
}

TEST_F(LogFlowTest, TheLastLinesStayWhenTheWorkerKeepsNothing) {
  StartTrial("none");
  AwaitLog("tick 1\n");
  EndTrial();
  Await(v1::TRIAL_STATE_SUCCEEDED);
  const Ran ran = Run("trial log a 0");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("tick 1\n"));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("attempt 1 COMPLETED; its whole log: "),
                             HasSubstr(":" + Path("runs/trials/a/0/1.log")),
                             HasSubstr("--keep")));
  const Ran json = Run("trial log a 0 --json");
  EXPECT_THAT(json.out,
              AllOf(HasSubstr("\"state\": \"ATTEMPT_STATE_COMPLETED\""),
                    HasSubstr("\"kept\": false"),
                    HasSubstr("\"worker\": \"workers/w\""),
                    HasSubstr("\"path\": \"" + Path("runs/trials/a/0/1.log")),
                    HasSubstr("\"log\": \"tick 1\\n")));
  const Ran stream = Run("trial log a 0 --json --follow");
  EXPECT_THAT(stream.out, HasSubstr("{\"trial\": \"studies/a/trials/0\", "));
  EXPECT_EQ(std::count(stream.out.begin(), stream.out.end(), '\n'), 1);
  const Ran none = Run("trial log a 0 --attempt 9");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, AllOf(HasSubstr("has no attempt 9, only 1"),
                              HasSubstr("fix: ask for one it had")));
}

TEST_F(LogFlowTest, AnAgentThatWasKilledTellsItsLastWordsWhenItIsBack) {
  StartTrial();
  for (int i = 0; i < 1000 && Text(Path("runs/trials/a/0/1.log")).empty();
       ++i) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  world_.KillWorker("w");
  StartWorker();
  Await(v1::TRIAL_STATE_RUNNING, 2);
  const Ran first = Run("trial log a 0 --attempt 1");
  EXPECT_THAT(first.out, HasSubstr("tick 1\n"));
  EXPECT_THAT(first.err, AllOf(HasSubstr("attempt 1 LOST"),
                               HasSubstr(Path("runs/trials/a/0/1.log"))));
  EndTrial();
}

}  // namespace
}  // namespace frostline::test

// SPDX-License-Identifier: Apache-2.0
//
// A worker that is stopped for longer than its lease, and wakes up believing
// that nothing has happened.
#include <signal.h>

#include <chrono>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "tests/fault/harness.h"

namespace frostline::test {
namespace {

using std::chrono::seconds;

class ZombieTest : public FaultTest {
 protected:
  // A worker whose trainer leaves its process id in a file, reports, works for
  // so long, and finishes with 0.75.
  void StartWorker(const std::string& seconds_of_work) {
    const std::string script = folder_.File("trainer.sh");
    std::ofstream(script)
        << "while read -r line; do case \"$line\" in\n"
        << "*'\"trial\"'*) echo $$ > " << folder_.File("pid") << "\n"
        << "echo '{\"type\":\"report\",\"step\":0,\"metrics\":"
        << "{\"accuracy\":0.4}}'\n"
        << "sleep " << seconds_of_work << "\n"
        << "echo '{\"type\":\"finish\",\"state\":\"succeeded\",\"metrics\":"
        << "{\"accuracy\":0.75}}';;\n"
        << "*'\"exit\"'*) exit 0;;\nesac; done\n";
    worker_ = std::make_unique<bench::Program>(
        Words{bench::BinaryPath("frostline-worker"), "--connect",
              coordinator_->address(), "--id", "zombie", "--study", "s",
              "--exit-when-done", "--run-dir", folder_.File("run"), "--exec",
              "sh " + script, "--stop-grace", "1"},
        Words{}, folder_.File("worker.log"));
    worker_->Start();
    ASSERT_TRUE(Eventually([this] { return TrainerPid() > 0; }))
        << worker_->Log();
    // Its first report has arrived: it is at work.
    ASSERT_TRUE(Eventually([this] {
      const auto study = admin_->ReadStudy("studies/s", true);
      return study.ok() && !study->trials.empty() &&
             study->trials[0].measurements.count(1) > 0;
    }));
  }

  pid_t TrainerPid() const {
    pid_t pid = 0;
    std::ifstream(folder_.File("pid")) >> pid;
    return pid;
  }
  static bool Lives(pid_t pid) {
    std::ifstream stat(absl::StrCat("/proc/", pid, "/stat"));
    std::string id, name, state;
    return stat >> id >> name >> state && state != "Z";
  }

  v1::Trial FirstTrial() {
    const auto study = admin_->ReadStudy("studies/s", false);
    EXPECT_OK(study);
    return study.ok() && !study->trials.empty() ? study->trials[0].trial
                                                : v1::Trial();
  }
  bool WaitsForLoss() {
    return Eventually([this] {
      return FirstTrial().attempts(0).state() == v1::ATTEMPT_STATE_LOST;
    });
  }

  std::unique_ptr<bench::Program> worker_;
};

TEST_F(ZombieTest, StopsTrainingWhenAnotherHasItsTrial) {
  Boot();
  Create("s", 1);
  ASSERT_NO_FATAL_FAILURE(StartWorker("600"));
  const pid_t trainer = TrainerPid();
  worker_->Signal(SIGSTOP);
  ASSERT_TRUE(WaitsForLoss());
  bench::LoadRun run(Fleet("studies/s", 1), clock_);
  run.Start();
  ASSERT_TRUE(run.Wait(seconds(30)));
  worker_->Signal(SIGCONT);
  EXPECT_TRUE(Eventually([trainer] { return !Lives(trainer); }))
      << worker_->Log();
  run.Stop();
  const v1::Trial trial = FirstTrial();
  EXPECT_EQ(trial.attempts(1).state(), v1::ATTEMPT_STATE_COMPLETED);
  EXPECT_EQ(trial.values(0), bench::MadeUpMetric(trial.name(), 2, -1));
}

TEST_F(ZombieTest, ItsLateResultDoesNotCountBesidesAnother) {
  Boot();
  Create("s", 1);
  ASSERT_NO_FATAL_FAILURE(StartWorker("1"));  // the trainer is not stopped
  worker_->Signal(SIGSTOP);
  ASSERT_TRUE(WaitsForLoss());
  bench::LoadRun run(Fleet("studies/s", 1), clock_);
  run.Start();
  ASSERT_TRUE(run.Wait(seconds(30)));
  worker_->Signal(SIGCONT);
  EXPECT_EQ(worker_->Wait(), kExitOk) << worker_->Log();
  run.Stop();
  const v1::Trial trial = FirstTrial();
  const v1::Attempt& late = trial.attempts(0);
  EXPECT_TRUE(late.state() == v1::ATTEMPT_STATE_SUPERSEDED ||
              late.state() == v1::ATTEMPT_STATE_LOST);
  EXPECT_EQ(trial.attempts(1).state(), v1::ATTEMPT_STATE_COMPLETED);
  EXPECT_EQ(trial.values(0), bench::MadeUpMetric(trial.name(), 2, -1));
}

TEST_F(ZombieTest, ItsLateResultCountsWhenItIsTheOnlyOne) {
  Boot();
  Create("s", 1);
  ASSERT_NO_FATAL_FAILURE(StartWorker("1"));
  worker_->Signal(SIGSTOP);
  ASSERT_TRUE(WaitsForLoss());
  worker_->Signal(SIGCONT);
  ASSERT_TRUE(Eventually([this] {
    return FirstTrial().state() == v1::TRIAL_STATE_SUCCEEDED;
  })) << worker_->Log();
  const v1::Trial trial = FirstTrial();
  EXPECT_EQ(trial.attempts_size(), 1);
  EXPECT_EQ(trial.values(0), 0.75);
}

TEST_F(ZombieTest, AHundredOfThemOverwriteNothing) {
  Boot();
  const std::string study = Create("s", FaultCount(150, 5'000));
  bench::LoadOptions fleet = Fleet(study, 20);
  fleet.chaos.silence = 0.2;
  fleet.chaos.late = 0.2;
  bench::LoadRun run(fleet, clock_);
  run.Start();
  ExpectCompleted(run, study, Patience());
}

}  // namespace
}  // namespace frostline::test

// SPDX-License-Identifier: Apache-2.0
//
// kill -9, at random moments, of everything that can be killed.
#include <signal.h>

#include <chrono>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/rng.h"
#include "tests/fault/harness.h"

namespace frostline::test {
namespace {

using std::chrono::milliseconds;

class KillTest : public FaultTest {
 protected:
  Duration Moment() {
    return milliseconds(50 + static_cast<int>(rng_.Below(350)));
  }

  Rng rng_{20261121};
};

TEST_F(KillTest, NothingAcknowledgedIsLostWithTheCoordinator) {
  Boot();
  const int most = FaultCount(12, 400);
  const std::string study = Create("killed", most * 100);
  bench::LoadOptions fleet = Fleet(study, 20);
  fleet.chaos.repeat = 0.05;
  fleet.chaos.vanish = 0.005;
  bench::LoadRun run(fleet, clock_);
  run.Start();
  int kills = 0;
  while (kills < most && !run.Wait(Moment())) {
    ++kills;
    Crash();
  }
  record_["kills"] = kills;
  ExpectCompleted(run, study, Patience());
  EXPECT_GE(kills, most / 3) << "too few to mean anything";
}

TEST_F(KillTest, EveryTrialEndsThoughHalfOfTheWorkersVanish) {
  Boot();
  const std::string study = Create("orphaned", FaultCount(400, 20'000));
  bench::LoadOptions fleet = Fleet(study, 20);
  fleet.chaos.vanish = 0.05;
  fleet.chaos.silence = 0.01;
  fleet.chaos.late = 0.02;
  fleet.chaos.repeat = 0.1;
  fleet.chaos.fail = 0.02;
  fleet.chaos.release = 0.02;
  bench::LoadRun run(fleet, clock_);
  run.Start();
  ExpectCompleted(run, study, Patience());
}

// The trials of the small network that comes with Frostline.
class RealWorkerTest : public KillTest {
 protected:
  static v1::CreateStudyRequest DemoStudy(std::int64_t trials) {
    v1::CreateStudyRequest request = bench::LoadStudy("demo", trials, 0);
    v1::StudySpec& spec = *request.mutable_spec();
    spec.mutable_model()->set_id("demo-mlp");
    spec.mutable_model()->set_layers(6);
    spec.mutable_model()->set_no_pooler(true);
    for (const char* select : {"embeddings", "layer.*", "head"}) {
      v1::ModuleSpace* const modules = spec.mutable_space()->add_modules();
      modules->set_select(select);
      for (const double rate : {0.0, 0.001, 0.01}) {
        modules->mutable_levels()->add_rates(rate);
      }
    }
    (*spec.mutable_training()
          ->mutable_extra()
          ->mutable_fields())["seconds_per_epoch"]
        .set_number_value(0.01);
    return request;
  }

  void StartWorker(const std::string& id) {
    auto& worker = workers_[id];
    worker = std::make_unique<bench::Program>(
        Words{bench::BinaryPath("frostline-worker"), "--connect",
              coordinator_->address(), "--id", id, "--study", "demo",
              "--exit-when-done", "--run-dir", folder_.File(id), "--exec",
              bench::BinaryPath("frostline-demo-trainer"), "--log-level",
              "warning"},
        Words{}, folder_.File(id + ".log"));
    worker->Start();
  }

  std::map<std::string, std::unique_ptr<bench::Program>> workers_;
};

TEST_F(RealWorkerTest, KilledWorkersAndTrainersLoseNoTrial) {
  Boot();
  const int budget = FaultCount(30, 400);
  ASSERT_OK(admin_->Call(admin_->studies(),
                         &v1::StudyService::Stub::CreateStudy,
                         DemoStudy(budget)));
  for (const char* id : {"a", "b"}) StartWorker(id);
  const auto ended = [this] {
    const auto study = admin_->GetStudy("studies/demo");
    return study.ok() && study->state() == v1::STUDY_STATE_COMPLETED;
  };
  int kills = 0;
  while (!Eventually(ended, milliseconds(900)) && kills < budget) {
    const std::string id = ++kills % 2 == 0 ? "a" : "b";
    workers_.at(id)->Kill();
    if (kills % 5 == 0) Crash();
    StartWorker(id);
  }
  record_["kills"] = kills;
  record_["trials"] = budget;
  ASSERT_TRUE(Eventually(ended, std::chrono::minutes(2)));
  EXPECT_GT(kills, 0);
  ASSERT_OK_AND_ASSIGN(const bench::StoredStudy stored,
                       admin_->ReadStudy("studies/demo", true));
  EXPECT_EQ(stored.study.counts().budget_used(), budget);
  for (const bench::StoredTrial& trial : stored.trials) {
    EXPECT_EQ(trial.trial.state(), v1::TRIAL_STATE_SUCCEEDED);
    // Each was trained to its end by the attempt that counts.
    const v1::Attempt& last =
        trial.trial.attempts(trial.trial.attempts_size() - 1);
    EXPECT_EQ(last.state(), v1::ATTEMPT_STATE_COMPLETED);
  }
}

}  // namespace
}  // namespace frostline::test

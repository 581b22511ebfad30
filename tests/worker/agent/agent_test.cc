// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"
#include "worker/agent/trial/kept_models.h"

namespace frostline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The agent, a real trainer process and a scripted coordinator: what is said
// to whom when all goes well, and when the trainer or the lease does not.

constexpr char kWaitForStop[] = R"(report(1, 0.5)
note("pid", os.getpid())
m = next_message()
note("reason", m["reason"])
finish("stopped", 0.25)
)";

constexpr char kNeverStops[] = R"(report(1, 0.5)
note("pid", os.getpid())
while True: time.sleep(1)
)";

TEST(Agent, TrainsTrialAfterTrialOnOneTrainer) {
  Rig rig("report(1, 0.5)\nreport(2, 0.75)\nfinish('succeeded', os.getpid())");
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(ScriptedCoordinator::LeaseOf(2, 4));
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.finishes[0].outcome().kind(), v1::Outcome::SUCCEEDED);
  EXPECT_EQ(heard.finishes[1].lease().attempt(), 4);
  EXPECT_EQ(heard.finishes[1].lease().secret(), "secret-2");
  EXPECT_EQ(heard.finishes[0].outcome().metrics().at("score"),
            heard.finishes[1].outcome().metrics().at("score"));
  EXPECT_EQ(rig.SpoolFiles(), 0);
  EXPECT_FALSE(std::filesystem::exists(rig.File("runs/trials/s/1")));
}

TEST(Agent, AFreshProcessTrainsEachTrialIfAsked) {
  for (const bool fresh : {false, true}) {
    Rig rig("finish('succeeded', os.getpid())");
    rig.options().fresh_process = fresh;
    for (int trial = 1; trial <= 3; ++trial) rig.coordinator().Offer(trial);
    rig.Start();
    ASSERT_TRUE(rig.coordinator().Await(
        [](const Heard& heard) { return heard.finishes.size() == 3; }));
    std::set<double> pids;
    for (const auto& finish : rig.coordinator().heard().finishes) {
      pids.insert(finish.outcome().metrics().at("score"));
    }
    EXPECT_THAT(pids, SizeIs(fresh ? 3 : 1));
    rig.coordinator().EndStudy();
    EXPECT_EQ(rig.Join(), 0);
  }
}

TEST(Agent, WhatRanOutOfMemoryTrainsNoOtherTrial) {
  Rig rig(
      "note('ran' + t['trial'][-1], os.getpid())\n"
      "if t['trial'].endswith('/1'):\n"
      "    say(type='finish', state='failed', **{'class': 'out_of_memory'},\n"
      "        cause='FL-5016: full')\n"
      "else: finish('succeeded')");
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.finishes[0].outcome().failure(),
            v1::FAILURE_CLASS_OUT_OF_MEMORY);
  EXPECT_EQ(heard.finishes[1].outcome().kind(), v1::Outcome::SUCCEEDED);
  EXPECT_NE(rig.AwaitFile("ran1"), rig.AwaitFile("ran2"));
}

TEST(Agent, EveryMeasurementArrivesOnceAndInOrder) {
  Rig rig("for i in range(500): report(i, i)\nfinish('succeeded')");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const Heard heard = rig.coordinator().heard();
  std::int64_t next = 0;
  std::int64_t sequence = 0;
  for (const auto& report : heard.reports) {
    // Some were put together on the way.
    EXPECT_GT(report.sequence(), std::exchange(sequence, report.sequence()));
    for (const auto& m : report.measurements()) EXPECT_EQ(m.step(), next++);
  }
  for (const auto& m : heard.finishes[0].measurements()) {
    EXPECT_EQ(m.step(), next++);
  }
  EXPECT_EQ(next, 500);
}

TEST(Agent, ALostLeaseKillsTheTrainingAtOnceAndSaysNothing) {
  Rig rig(kNeverStops);
  rig.coordinator().Offer(1);
  rig.Start();
  const int pid = std::stoi(rig.AwaitFile("pid"));
  rig.coordinator().Direct(1, v1::Directive::LEASE_LOST);
  EXPECT_TRUE(AwaitDeath(pid));
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
  EXPECT_THAT(rig.coordinator().heard().finishes, IsEmpty());
  EXPECT_THAT(rig.coordinator().heard().releases, IsEmpty());
  EXPECT_EQ(rig.SpoolFiles(), 0);
}

TEST(Agent, ARefusedReportOfALostLeaseKillsTheTraining) {
  Rig rig(
      "note('pid', os.getpid())\nwait_for('go')\nreport(1, 0.5)\n"
      "while True: time.sleep(1)");
  rig.coordinator().Offer(1);
  rig.Start();
  const int pid = std::stoi(rig.AwaitFile("pid"));
  rig.coordinator().Refuse("Report", ErrorId::kLeaseLost);
  std::filesystem::create_directory(rig.File("go"));
  EXPECT_TRUE(AwaitDeath(pid));
}

class StopOrder : public ::testing::TestWithParam<
                      std::pair<v1::Directive::Action, v1::Outcome::Kind>> {};

TEST_P(StopOrder, IsObeyedAndFinishedWithItsKind) {
  Rig rig(kWaitForStop);
  rig.coordinator().Offer(1);
  rig.coordinator().Direct(1, GetParam().first);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.kind(), GetParam().second);
  EXPECT_EQ(outcome.metrics().at("score"), 0.25);
  // The trainer obeyed, so it was kept.
  EXPECT_TRUE(Lives(std::stoi(rig.AwaitFile("pid"))));
}

TEST_P(StopOrder, EndsATrainerThatDoesNotListen) {
  Rig rig(kNeverStops);
  rig.options().stop_grace = std::chrono::milliseconds(100);
  rig.coordinator().Offer(1);
  rig.Start();
  const int pid = std::stoi(rig.AwaitFile("pid"));
  rig.coordinator().Direct(1, GetParam().first);
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  EXPECT_EQ(rig.coordinator().heard().finishes[0].outcome().kind(),
            GetParam().second);
  EXPECT_TRUE(AwaitDeath(pid));
}

INSTANTIATE_TEST_SUITE_P(
    All, StopOrder,
    ::testing::Values(
        std::pair(v1::Directive::STOP_PRUNED, v1::Outcome::PRUNED),
        std::pair(v1::Directive::STOP_CANCELLED, v1::Outcome::CANCELLED)));

TEST(Agent, PreemptionHandsTheTrialBackWithItsCheckpoint) {
  Rig rig(R"(report(1, 0.5)
note("pid", os.getpid())
m = next_message()
note("reason", m["reason"])
open(t["folder"] + "/epoch-1", "w").write("state")
say(type="checkpoint", id="epoch-1", step=1)
)");
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("pid");
  rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_EQ(rig.Join(), 75);
  const Heard heard = rig.coordinator().heard();
  ASSERT_THAT(heard.releases, SizeIs(1));
  EXPECT_EQ(heard.releases[0].reason(), v1::ReleaseRequest::PREEMPTED);
  EXPECT_EQ(heard.releases[0].checkpoint().id(), "1.1.epoch-1");
  EXPECT_EQ(heard.releases[0].checkpoint().bytes(), 5);
  EXPECT_EQ(rig.AwaitFile("reason"), "preempt");
  EXPECT_THAT(heard.finishes, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(rig.File("runs/trials/s/1/1/epoch-1")));
}

TEST(Agent, ASecondSignalWaitsForNoCheckpoint) {
  Rig rig(kNeverStops);
  rig.coordinator().Offer(1);
  rig.Start();
  rig.AwaitFile("pid");
  rig.Stop(StopLevel::kRelease, kExitInterrupted);
  rig.Stop(StopLevel::kNow, kExitInterrupted);
  EXPECT_EQ(rig.Join(), 130);
  EXPECT_THAT(rig.coordinator().heard().releases, SizeIs(1));
}

TEST(Agent, AnIdleAgentCanBePreemptedToo) {
  Rig rig("pass");
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.heartbeats.empty(); }));
  rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_EQ(rig.Join(), 75);
}

TEST(Agent, DrainingReleasesAndTheAgentLives) {
  Rig rig(kWaitForStop);
  rig.coordinator().Offer(1);
  rig.coordinator().Direct(1, v1::Directive::CHECKPOINT_AND_RELEASE);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.releases.empty(); }));
  EXPECT_EQ(rig.coordinator().heard().releases[0].reason(),
            v1::ReleaseRequest::DRAINED);
  rig.coordinator().EndStudy();
  EXPECT_EQ(rig.Join(), 0);
}

TEST(Agent, ACrashFailsTheTrialWithItsLogAndTheNextGetsANewTrainer) {
  Rig rig(
      "note('ran' + t['trial'][-1], os.getpid())\n"
      "if t['trial'].endswith('/1'):\n"
      "  print('the end is near', file=sys.stderr, flush=True)\n"
      "  os.abort()\n"
      "finish('succeeded')");
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  const Heard heard = rig.coordinator().heard();
  EXPECT_EQ(heard.finishes[0].outcome().kind(), v1::Outcome::FAILED);
  EXPECT_EQ(heard.finishes[0].outcome().failure(), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(heard.finishes[0].outcome().cause(), HasSubstr("FL-5003"));
  EXPECT_THAT(heard.finishes[0].outcome().log_tail(),
              HasSubstr("the end is near"));
  EXPECT_EQ(heard.finishes[1].outcome().kind(), v1::Outcome::SUCCEEDED);
}

TEST(Agent, AMistakeOfProtocolFailsTheTrialNamingTheLine) {
  Rig rig("say(type='report', step=1, metric={'score': 1})\ntime.sleep(1000)");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(outcome.cause(), HasSubstr("FL-5002: metric is no field"));
}

TEST(Agent, AStepThatDoesNotRiseIsAMistake) {
  Rig rig("report(3, 1)\nreport(3, 1)\ntime.sleep(1000)");
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  EXPECT_THAT(rig.coordinator().heard().finishes[0].outcome().cause(),
              HasSubstr("step 3 comes after step 3"));
}

TEST(Agent, ATrainerThatDoesNotExistIsTheNodesFault) {
  Rig rig("pass");
  rig.options().exec = "no-such-trainer-anywhere";
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto outcome = rig.coordinator().heard().finishes[0].outcome();
  EXPECT_EQ(outcome.failure(), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_THAT(outcome.cause(), HasSubstr("FL-5001"));
}

TEST(Agent, ATrainerForOneTrialIsStartedAgainForEach) {
  Rig rig(
      "finish('succeeded', os.getpid())\nprint('bye', flush=True)\n"
      "time.sleep(0.05)\nos._exit(0)");
  for (int i = 1; i <= 5; ++i) rig.coordinator().Offer(i);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 5; }));
  for (const auto& finish : rig.coordinator().heard().finishes) {
    EXPECT_EQ(finish.outcome().kind(), v1::Outcome::SUCCEEDED);
  }
}

TEST(Agent, SlotsTrainAtTheSameTime) {
  Rig rig(
      "n = t['trial'][-1]\nnote('at' + n, os.environ['FROSTLINE_SLOT'])\n"
      "wait_for('at1')\nwait_for('at2')\nfinish('succeeded')");
  rig.options().slots = 2;
  rig.coordinator().Offer(1);
  rig.coordinator().Offer(2);
  rig.Start();
  EXPECT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  EXPECT_NE(rig.AwaitFile("at1"), rig.AwaitFile("at2"));
}

constexpr char kNotesPrefixes[] =
    "note('seen', os.environ.get('FROSTLINE_PREFIX_DIR', '-') + ' ' +\n"
    "     os.environ.get('FROSTLINE_PREFIX_BYTES', '-'))\nfinish('succeeded')";

TEST(Agent, TrainersOfANodeShareAFolderOfItsRuns) {
  Rig rig(kNotesPrefixes);
  rig.coordinator().Offer(1);
  rig.Start();
  const std::string folder = std::filesystem::absolute(rig.options().run_dir);
  EXPECT_EQ(rig.AwaitFile("seen"), folder + "/prefix -");
}

TEST(Agent, ATrainerHearsWhereItMayWrite) {
  Rig rig(
      "note('seen', os.environ.get('FROSTLINE_WRITE_DIR', '-'))\n"
      "finish('succeeded')");
  rig.coordinator().Offer(1);
  rig.Start();
  EXPECT_EQ(rig.AwaitFile("seen"),
            std::filesystem::absolute(rig.options().run_dir));
}

TEST(Agent, TrainersShareTheFolderTheyAreTold) {
  Rig rig(kNotesPrefixes);
  rig.options().prefix_dir = "/scratch/prefix";
  rig.options().prefix_bytes = 4096;
  rig.coordinator().Offer(1);
  rig.Start();
  EXPECT_EQ(rig.AwaitFile("seen"), "/scratch/prefix 4096");
}

TEST(Agent, TrainersKeepNothingOfFrozenLayersWhereThatIsOff) {
  Rig rig(kNotesPrefixes);
  rig.options().prefix_dir = "off";
  rig.coordinator().Offer(1);
  rig.Start();
  EXPECT_EQ(rig.AwaitFile("seen"), "- -");
}

TEST(Agent, AResultTheCoordinatorRefusesBecomesAFailureThatSaysSo) {
  Rig rig("finish('succeeded')");
  rig.coordinator().Refuse("Finish", ErrorId::kObjectiveMissing);
  rig.coordinator().Offer(1);
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return heard.finishes.size() == 2; }));
  const auto outcome = rig.coordinator().heard().finishes[1].outcome();
  EXPECT_EQ(outcome.kind(), v1::Outcome::FAILED);
  EXPECT_THAT(outcome.cause(), HasSubstr("refused the result"));
}

TEST(Agent, EndsWhenIdleForLongEnough) {
  Rig rig("pass");
  rig.options().exit_when_done = false;
  rig.options().idle_timeout = std::chrono::milliseconds(200);
  rig.Start();
  EXPECT_EQ(rig.Join(), 0);
}

TEST(Agent, ASecondAgentOfTheSameIdIsRefused) {
  Rig rig("pass");
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.registers.empty(); }));
  Agent second(rig.options(), SystemClock());
  EXPECT_EQ(ExitCodeOf(second.Run().status()), kExitUsage);
}

// What an agent keeps of trained models, and what it says of them: with a
// trainer that leaves a folder `model`, as any trainer may.

namespace fs = std::filesystem;

using ::testing::ElementsAre;

// Each trial's score is in its label; a kilobyte is its model.
constexpr char kExporting[] = R"(report(1, 0.5)
os.mkdir(t["folder"] + "/model")
with open(t["folder"] + "/model/weights", "w") as f: f.write("w" * 1000)
with open(t["folder"] + "/model/config.json", "w") as f: f.write("{}")
finish("succeeded", float(t["labels"]["score"]))
)";

v1::Lease LeaseOf(int number, double score, const std::string& word) {
  v1::Lease lease = ScriptedCoordinator::LeaseOf(number);
  v1::TrialSpec& spec = *lease.mutable_spec();
  spec.mutable_objectives(0)->set_direction(v1::DIRECTION_MAXIMIZE);
  (*spec.mutable_labels())["score"] = std::to_string(score);
  (*spec.mutable_training()->mutable_extra()->mutable_fields())["export"]
      .set_string_value(word);
  return lease;
}

class AgentModelTest : public ::testing::Test {
 protected:
  // Runs them one after the other, to the agent's end.
  void Run(const std::vector<double>& scores, const std::string& word) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      rig_.coordinator().Offer(
          LeaseOf(static_cast<int>(i) + 1, scores[i], word));
    }
    rig_.Start();
    ASSERT_TRUE(rig_.coordinator().Await([&](const Heard& heard) {
      return heard.finishes.size() == scores.size();
    }));
    rig_.coordinator().EndStudy();
    EXPECT_EQ(rig_.Join(), 0);
  }
  std::vector<int> Models() const {
    std::vector<int> numbers;
    for (int trial = 1; trial <= 12; ++trial) {
      if (fs::exists(ModelOf(trial))) numbers.push_back(trial);
    }
    return numbers;
  }
  std::string ModelOf(int trial) const {
    return rig_.File("runs/trials/s/" + std::to_string(trial) + "/1/model");
  }
  // Bytes of everything that trials left, and how many folders.
  std::pair<std::int64_t, int> Left() const {
    std::pair<std::int64_t, int> left;
    for (const auto& entry :
         fs::recursive_directory_iterator(rig_.File("runs/trials"))) {
      if (entry.is_directory()) ++left.second;
      if (entry.is_regular_file()) {
        left.first += static_cast<std::int64_t>(entry.file_size());
      }
    }
    return left;
  }

  Rig rig_{kExporting};
};

TEST_F(AgentModelTest, OfSixTrialsOneModelIsLeftAndItsPlaceIsSaid) {
  Run({0.1, 0.3, 0.2, 0.9, 0.8, 0.4}, "best");
  EXPECT_THAT(Models(), ElementsAre(4));
  // The study's folder, trial 4's, its attempt's and its model's; the logs of
  // 1 and 2, which were the best once, go with the next cleaning.
  const auto [bytes, folders] = Left();
  EXPECT_LE(folders, 4 + 2 * 2);
  EXPECT_LT(bytes, 2 * 1000);
  std::vector<int> told;
  for (const v1::FinishRequest& finish : rig_.coordinator().heard().finishes) {
    const v1::TrainedModel& model = finish.outcome().usage().model();
    if (!finish.outcome().usage().has_model()) continue;
    told.push_back(std::stoi(fs::path(finish.lease().trial()).filename()));
    EXPECT_EQ(model.folder(), ModelOf(told.back()));
    EXPECT_FALSE(model.host().empty());
    EXPECT_EQ(model.sums_sha256().size(), 64u);
    EXPECT_GT(model.bytes(), 1000);
  }
  EXPECT_THAT(told, ElementsAre(1, 2, 4));  // each the best when it ended
}

TEST_F(AgentModelTest, AllAreLeftWhereAllAreWanted) {
  Run({0.3, 0.2, 0.1}, "all");
  EXPECT_THAT(Models(), ElementsAre(1, 2, 3));
  for (const v1::FinishRequest& finish : rig_.coordinator().heard().finishes) {
    EXPECT_TRUE(finish.outcome().usage().has_model());
  }
}

TEST_F(AgentModelTest, WhatIsNotKeptIsNotToldOf) {
  rig_.options().keep.policy = KeepPolicy::kNone;
  Run({0.3, 0.9}, "best");
  EXPECT_THAT(Models(), IsEmpty());
  for (const v1::FinishRequest& finish : rig_.coordinator().heard().finishes) {
    EXPECT_FALSE(finish.outcome().usage().has_model());
  }
}

TEST_F(AgentModelTest, ARefusedEndingLeavesNoModel) {
  rig_.coordinator().Refuse("Finish", ErrorId::kLeaseLost);
  Run({0.3}, "best");
  EXPECT_THAT(Models(), IsEmpty());
}

// How far a trial is comes from the trainer's reports to the coordinator.

// Says whether a heartbeat has told such a progress.
bool AwaitTold(Rig& rig,
               const std::function<bool(const v1::LeaseProgress&)>& is_told) {
  return rig.coordinator().Await([&is_told](const Heard& heard) {
    for (const auto& beat : heard.heartbeats) {
      for (const auto& lease : beat.leases()) {
        if (is_told(lease)) return true;
      }
    }
    return false;
  });
}

void Begin(Rig& rig) {
  rig.coordinator().TakeProgress();
  rig.coordinator().Offer(1);
  rig.Start();
}

v1::Outcome OutcomeOf(Rig& rig) {
  EXPECT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const auto finishes = rig.coordinator().heard().finishes;
  return finishes.empty() ? v1::Outcome() : finishes[0].outcome();
}

TEST(Progress, OfAReportRidesOnTheNextHeartbeat) {
  Rig rig(R"(say(type="report", step=30, total_steps=60, phase="training",
    epoch=1.5, total_epochs=3, remaining_s=1000)
next_message()
)");
  Begin(rig);
  EXPECT_TRUE(AwaitTold(rig, [](const v1::LeaseProgress& told) {
    const v1::TrialProgress& progress = told.progress();
    return told.step() == 30 && told.total_steps() == 60 &&
           progress.phase() == "training" && progress.epoch() == 1.5 &&
           progress.total_epochs() == 3 && progress.slot() == 0 &&
           progress.remaining().seconds() > 900;
  }));
}

TEST(Progress, TheTrainerIsToldThatItIsTaken) {
  Rig rig(R"(note("takes", t["takes"])
finish("succeeded")
)");
  Begin(rig);
  EXPECT_THAT(rig.AwaitFile("takes"), HasSubstr("'progress'"));
}

// The phase changes where no step is done; what is reported after it counts.
TEST(Progress, APhaseMayComeWithoutAStep) {
  Rig rig(R"(say(type="report", step=0, phase="loading")
say(type="report", step=0, phase="filling")
report(0, 0.25)
say(type="report", step=0, phase="evaluating", epoch=1)
wait_for("seen")
report(1, 0.5)
finish("succeeded", 0.5)
)");
  Begin(rig);
  EXPECT_TRUE(AwaitTold(rig, [](const v1::LeaseProgress& told) {
    return told.progress().phase() == "evaluating" &&
           told.progress().epoch() == 1 && told.step() == 0;
  }));
  std::ofstream(rig.File("seen")) << "yes";
  const v1::Outcome outcome = OutcomeOf(rig);
  EXPECT_EQ(outcome.kind(), v1::Outcome::SUCCEEDED) << outcome.cause();
}

// A trial that goes on at an evaluation tells its precision there, then what
// it measures.
TEST(Progress, AStepToldAloneMayStillBeMeasured) {
  Rig rig(R"(say(type="report", step=66, precision="fp32", precisions=["fp32"])
report(66, 0.25)
report(67, 0.5)
finish("succeeded", 0.5)
)");
  Begin(rig);
  const v1::Outcome outcome = OutcomeOf(rig);
  EXPECT_EQ(outcome.kind(), v1::Outcome::SUCCEEDED) << outcome.cause();
}

TEST(Progress, AStepThatComesAgainWithMetricsIsAMistakeAsBefore) {
  Rig rig(R"(report(3, 0.25)
say(type="report", step=3, phase="training", metrics={"score": 0.5})
next_message()
)");
  Begin(rig);
  EXPECT_THAT(OutcomeOf(rig).cause(), HasSubstr("step 3 comes after step 3"));
}

TEST(Progress, AWordThatIsNoPhaseIsAMistake) {
  Rig rig(R"(say(type="report", step=1, phase="thinking")
next_message()
)");
  Begin(rig);
  EXPECT_THAT(OutcomeOf(rig).cause(), HasSubstr("phase is none of"));
}

// A trainer that loads is given six times as long as one that trains.
TEST(Progress, LoadingIsNoStep) {
  Rig rig(R"(say(type="report", step=0, phase="loading")
time.sleep(1)
finish("succeeded", 0.5)
)");
  rig.options().hang_after = milliseconds(500);
  rig.options().stop_grace = milliseconds(100);
  Begin(rig);
  EXPECT_EQ(OutcomeOf(rig).kind(), v1::Outcome::SUCCEEDED);
}

}  // namespace
}  // namespace frostline::agent

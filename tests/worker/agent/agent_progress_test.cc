// SPDX-License-Identifier: Apache-2.0
//
// How far a trial is comes from the trainer's reports to the coordinator.
#include <fstream>
#include <functional>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"

namespace frostline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

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

// SPDX-License-Identifier: Apache-2.0
//
// The judge of every fault test, judged: one honest run, and each way in which
// a store could lie about it.
#include "tests/bench/load/checker.h"

#include <algorithm>
#include <sstream>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Op = bench::HistoryEvent::Op;
using Kind = bench::HistoryEvent::Kind;

constexpr char kTrial[] = "studies/s/trials/0";
constexpr Duration kTtl = std::chrono::seconds(1);

// Worker a takes trial 0, reports and falls silent; worker b takes it after the
// lease has ended and finishes; a's late result is superseded.
class CheckerTest : public ::testing::Test {
 protected:
  CheckerTest() {
    Grant(0, "a", 1);
    Add(10, "a", Op::kReport, Kind::kInvoke, "ra1", 1).steps = {{0, 0.1},
                                                                {1, 0.2}};
    Add(20, "a", Op::kReport, Kind::kOk, "ra1", 1).said = "CONTINUE";
    Grant(1100, "b", 2);
    Finish(1200, "b", 2, 0.9, "ACCEPTED");
    Finish(1300, "a", 1, 0.8, "SUPERSEDED");
    stored_.study.set_name("studies/s");
    stored_.study.set_state(v1::STUDY_STATE_COMPLETED);
    stored_.study.mutable_settings()->mutable_budget()->set_trials(1);
    stored_.study.mutable_counts()->set_budget_used(1);
    stored_.study.add_best_trials(kTrial);
    stored_.trials.emplace_back();
    trial().set_name(kTrial);
    trial().set_state(v1::TRIAL_STATE_SUCCEEDED);
    trial().set_origin(v1::TRIAL_ORIGIN_SAMPLED);
    trial().set_attempt(2);
    trial().add_values(0.9);
    (*trial().mutable_metrics())["accuracy"] = 0.9;
    AddAttempt(1, v1::ATTEMPT_STATE_SUPERSEDED);
    (*trial()
          .mutable_attempts(0)
          ->mutable_superseded_outcome()
          ->mutable_metrics())["accuracy"] = 0.8;
    AddAttempt(2, v1::ATTEMPT_STATE_COMPLETED);
    AddMeasurement(1, 0, 0.1);
    AddMeasurement(1, 1, 0.2);
  }

  bench::HistoryEvent& Add(int ms, const std::string& worker, Op op, Kind kind,
                           const std::string& id, std::int64_t attempt) {
    bench::HistoryEvent event;
    event.time = std::chrono::seconds(1) + std::chrono::milliseconds(ms);
    event.op = op;
    event.kind = kind;
    event.worker = worker;
    event.id = id;
    if (attempt > 0) event.trial = kTrial;
    event.attempt = attempt;
    history_.push_back(event);
    return history_.back();
  }
  void Grant(int ms, const std::string& worker, std::int64_t attempt) {
    Add(ms, worker, Op::kAcquire, Kind::kInvoke, "acquire-" + worker, 0);
    Add(ms + 1, worker, Op::kAcquire, Kind::kOk, "acquire-" + worker, attempt)
        .ttl = kTtl;
  }
  void Finish(int ms, const std::string& worker, std::int64_t attempt,
              double value, const std::string& verdict) {
    bench::HistoryEvent& invoke = Add(ms, worker, Op::kFinish, Kind::kInvoke,
                                      "finish-" + worker, attempt);
    invoke.said = "SUCCEEDED";
    invoke.value = value;
    Add(ms + 1, worker, Op::kFinish, Kind::kOk, "finish-" + worker, attempt)
        .said = verdict;
  }
  void AddAttempt(std::int64_t number, v1::AttemptState state) {
    v1::Attempt* const attempt = trial().add_attempts();
    attempt->set_number(number);
    attempt->set_state(state);
  }
  void AddMeasurement(std::int64_t attempt, std::int64_t step, double value) {
    v1::Measurement measured;
    measured.set_step(step);
    (*measured.mutable_metrics())["accuracy"] = value;
    stored_.trials[0].measurements[attempt].push_back(measured);
  }

  v1::Trial& trial() { return stored_.trials[0].trial; }
  std::vector<std::string> Wrong() {
    return bench::CheckHistory(history_, stored_);
  }
  std::string FirstWrong() { return Wrong().empty() ? "" : Wrong().front(); }

  bench::History history_;
  bench::StoredStudy stored_;
};

TEST_F(CheckerTest, FindsNothingWrongWithAnHonestRun) {
  EXPECT_THAT(Wrong(), IsEmpty());
}

TEST_F(CheckerTest, MissesATrialThatWorkersWereToldOf) {
  stored_.trials.clear();
  EXPECT_THAT(FirstWrong(), HasSubstr("it is gone"));
}

TEST_F(CheckerTest, MissesAnAcknowledgedOutcome) {
  trial().set_state(v1::TRIAL_STATE_QUEUED);
  EXPECT_THAT(Wrong(), Not(IsEmpty()));
}

TEST_F(CheckerTest, SeesAnotherValueThanTheAcknowledged) {
  (*trial().mutable_metrics())["accuracy"] = 0.91;
  trial().set_values(0, 0.91);
  EXPECT_THAT(FirstWrong(), HasSubstr("none that was sent"));
}

TEST_F(CheckerTest, SeesTwoCompletions) {
  trial().mutable_attempts(0)->set_state(v1::ATTEMPT_STATE_COMPLETED);
  EXPECT_THAT(FirstWrong(), HasSubstr("two attempts completed it"));
}

TEST_F(CheckerTest, SeesTwoAcceptedResults) {
  history_.back().said = "ACCEPTED";
  EXPECT_THAT(FirstWrong(), HasSubstr("was accepted"));
}

TEST_F(CheckerTest, MissesASupersededResult) {
  trial().mutable_attempts(0)->clear_superseded_outcome();
  EXPECT_THAT(FirstWrong(), HasSubstr("its outcome is not kept"));
}

TEST_F(CheckerTest, MissesAnAcknowledgedMeasurement) {
  stored_.trials[0].measurements[1].pop_back();
  EXPECT_THAT(FirstWrong(), HasSubstr("was acknowledged and is gone"));
}

TEST_F(CheckerTest, SeesAMeasurementOfAnotherValue) {
  (*stored_.trials[0].measurements[1][0].mutable_metrics())["accuracy"] = 0.15;
  EXPECT_THAT(FirstWrong(), HasSubstr("acknowledged and is another"));
}

TEST_F(CheckerTest, SeesAMeasurementTwiceOrNeverSent) {
  AddMeasurement(1, 0, 0.1);
  AddMeasurement(2, 0, 0.1);
  EXPECT_THAT(Wrong(), SizeIs(2));
}

TEST_F(CheckerTest, LetsAMeasurementWithoutAnAnswerBeThereOrNot) {
  std::erase_if(history_, [](const bench::HistoryEvent& event) {
    return event.op == Op::kReport && event.kind == Kind::kOk;
  });
  EXPECT_THAT(Wrong(), IsEmpty());
  stored_.trials[0].measurements.clear();
  EXPECT_THAT(Wrong(), IsEmpty());
}

TEST_F(CheckerTest, SeesAFenceThatDoesNotRise) {
  Add(1150, "c", Op::kAcquire, Kind::kInvoke, "acquire-c", 0);
  Add(1151, "c", Op::kAcquire, Kind::kOk, "acquire-c", 2).ttl = kTtl;
  EXPECT_THAT(FirstWrong(), HasSubstr("attempt 2 was granted twice"));
}

TEST_F(CheckerTest, SeesAGrantWhileALeaseWasGood) {
  const auto grant = history_.begin() + 4;
  bench::HistoryEvent beat = *(grant - 1);
  beat.op = Op::kHeartbeat;
  beat.id = "beat";
  beat.time += std::chrono::milliseconds(500);
  bench::HistoryEvent asked = beat;
  asked.kind = Kind::kInvoke;
  history_.insert(grant, {asked, beat});
  EXPECT_THAT(FirstWrong(), HasSubstr("before the lease of the one before"));
  // Unless the worker has been started anew meanwhile.
  bench::HistoryEvent reborn = asked;
  reborn.op = Op::kRegister;
  reborn.id = "register";
  history_.insert(history_.begin() + 6, reborn);
  EXPECT_THAT(Wrong(), IsEmpty());
}

TEST_F(CheckerTest, SeesARepeatedRequestAnsweredOtherwise) {
  Add(1400, "b", Op::kAcquire, Kind::kInvoke, "acquire-b", 0);
  Add(1401, "b", Op::kAcquire, Kind::kOk, "acquire-b", 0);
  EXPECT_THAT(FirstWrong(), HasSubstr("then nothing"));
}

TEST_F(CheckerTest, SeesABudgetThatIsNotMet) {
  stored_.study.mutable_settings()->mutable_budget()->set_trials(2);
  EXPECT_THAT(FirstWrong(), HasSubstr("its budget is 2"));
  stored_.study.mutable_counts()->set_budget_used(2);
  EXPECT_THAT(FirstWrong(), HasSubstr("the study says 2"));
}

TEST_F(CheckerTest, SeesAnOpenTrialAndAGapInTheNumbers) {
  stored_.trials.push_back(stored_.trials[0]);
  v1::Trial& second = stored_.trials[1].trial;
  second.Clear();
  second.set_name("studies/s/trials/2");
  second.set_number(2);
  second.set_state(v1::TRIAL_STATE_QUEUED);
  stored_.trials[1].measurements.clear();
  EXPECT_THAT(Wrong(), SizeIs(2));
}

TEST_F(CheckerTest, SeesABestTrialThatIsNot) {
  stored_.study.clear_best_trials();
  EXPECT_THAT(FirstWrong(), HasSubstr("the best value is 0.9"));
}

TEST_F(CheckerTest, AHistorySurvivesItsFile) {
  std::stringstream file;
  bench::WriteHistory(history_, file);
  ASSERT_OK_AND_ASSIGN(const bench::History read, bench::ReadHistory(file));
  ASSERT_EQ(read.size(), history_.size());
  EXPECT_THAT(bench::CheckHistory(read, stored_), IsEmpty());
  EXPECT_EQ(read[2].steps, history_[2].steps);
  std::stringstream torn("{\"op\": \"acqu");
  EXPECT_THAT(bench::ReadHistory(torn), FailsWith(ErrorId::kRequestInvalid));
}

}  // namespace
}  // namespace frostline::test

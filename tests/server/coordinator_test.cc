// SPDX-License-Identifier: Apache-2.0
#include "server/coordinator.h"

#include <set>

#include "sampler/pruner/rungs.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;

class CoordinatorTest : public ::testing::Test {
 protected:
  CoordinatorTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})),
        driver_(std::make_unique<Driver>(*store_, clock_)) {}

  void Create(const std::string& id, std::int64_t budget) {
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy(id, budget)));
    ASSERT_OK(driver_->Register("w", "boot-1"));
  }
  v1::Lease Acquire() { return driver_->AcquireOne("w", "boot-1"); }
  // Lets time pass and waits until the coordinator has looked at the clock.
  void Pass(Duration time) {
    for (Duration gone{}; gone < time; gone += seconds(1)) {
      clock_.Advance(seconds(1));
      for (int i = 0; i < 2; ++i) (void)driver_->GetStudy("a");
    }
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(CoordinatorTest, RunsAStudyOfExactlyItsBudgetToTheEnd) {
  Create("a", 5);
  std::set<std::string> seen;
  for (int i = 0; i < 5; ++i) {
    const v1::Lease lease = Acquire();
    ASSERT_TRUE(seen.insert(lease.trial()).second) << lease.trial();
    EXPECT_EQ(lease.attempt(), 1);
    ASSERT_OK(driver_->Finish(lease, 0.1 * i));
  }
  const v1::Study study = *driver_->GetStudy("a");
  EXPECT_EQ(study.state(), v1::STUDY_STATE_COMPLETED);
  EXPECT_EQ(study.counts().succeeded(), 5);
  EXPECT_EQ(study.best_trials(0), "studies/a/trials/4");
  // The sixth is refused with a reason.
  v1::AcquireRequest request = Driver::AcquireOf("w", "boot-1");
  request.set_study("studies/a");
  request.mutable_wait()->set_seconds(0);
  const auto none = driver_->StartAcquire(request).get();
  EXPECT_EQ(none->none_reason(), v1::STUDY_ENDED);
}

TEST_F(CoordinatorTest, SaysWhatItStandsOn) {
  CoordinatorOptions options;
  options.libraries = {{"gRPC", "1.51.1"}};
  options.schema_version = 3;
  driver_.reset();  // one at a time has the store
  Driver driver(*store_, clock_, std::move(options));
  const auto info = driver.Call<v1::ServerInfo>(v1::GetInfoRequest());
  ASSERT_OK(info);
  EXPECT_EQ(info->libraries().at("gRPC"), "1.51.1");
  EXPECT_EQ(info->schema_version(), 3);
  // Every hole that this version has is one whose occasion is taken.
  EXPECT_EQ(info->known_holes_size(), 0);
}

TEST_F(CoordinatorTest, AnAcquireWaitsUntilThereIsAStudy) {
  ASSERT_OK(driver_->Register("w", "boot-1"));
  auto waiting = driver_->StartAcquire(Driver::AcquireOf("w", "boot-1"));
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 1)));
  EXPECT_EQ(waiting.get()->leases_size(), 1);
}

TEST_F(CoordinatorTest, AnAcquireIsAnsweredWhenItsWaitIsOver) {
  ASSERT_OK(driver_->Register("w", "boot-1"));
  auto waiting = driver_->StartAcquire(Driver::AcquireOf("w", "boot-1"));
  // It has been parked before time goes on.
  ASSERT_EQ(
      driver_->Call<v1::ServerInfo>(v1::GetInfoRequest())->waiting_workers(),
      1);
  clock_.Advance(seconds(21));
  EXPECT_EQ(waiting.get()->none_reason(), v1::NO_STUDY);
}

TEST_F(CoordinatorTest, AWorkerWhoseSlotsWaitIsCountedOnce) {
  std::vector<std::future<absl::StatusOr<v1::AcquireReply>>> waiting;
  for (const char* id : {"w", "w", "v"}) {  // two slots of w ask, each alone
    ASSERT_OK(driver_->Register(id, "boot-1"));
    waiting.push_back(driver_->StartAcquire(Driver::AcquireOf(id, "boot-1")));
  }
  EXPECT_EQ(driver_->Waiting(), 2);
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 3)));
  for (auto& answer : waiting) EXPECT_EQ(answer.get()->leases_size(), 1);
  EXPECT_EQ(driver_->Waiting(), 0);
}

TEST_F(CoordinatorTest, AWorkerThatHungUpIsLeasedNothing) {
  ASSERT_OK(driver_->Register("w", "boot-1"));
  auto gone = std::make_shared<std::atomic<bool>>(false);
  auto waiting = driver_->StartAcquire(Driver::AcquireOf("w", "boot-1"), gone);
  *gone = true;
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 1)));
  EXPECT_EQ(waiting.get()->leases_size(), 0);
  EXPECT_EQ(driver_->GetStudy("a")->counts().running(), 0);
}

TEST_F(CoordinatorTest, EveryoneOfManyWaitersIsServed) {
  constexpr int kWorkers = 150;  // more than are proposed for at once
  std::vector<std::future<absl::StatusOr<v1::AcquireReply>>> waiting;
  for (int i = 0; i < kWorkers; ++i) {
    const std::string id = "w" + std::to_string(i);
    ASSERT_OK(driver_->Register(id, "boot-1"));
    waiting.push_back(driver_->StartAcquire(Driver::AcquireOf(id, "boot-1")));
  }
  Create("a", kWorkers);
  std::set<std::string> trials;
  for (auto& answer : waiting) {
    const auto reply = answer.get();
    ASSERT_EQ(reply->leases_size(), 1);
    EXPECT_TRUE(trials.insert(reply->leases(0).trial()).second);
  }
}

TEST_F(CoordinatorTest, TheNextTrialIsPreparedWhenASlotBecomesFree) {
  Create("a", 3);
  ASSERT_OK(driver_->Finish(Acquire(), 0.5));
  while (driver_->GetStudy("a")->counts().queued() == 0) {
  }
  // … so that it is there without a wait, and only one is.
  v1::AcquireRequest request = Driver::AcquireOf("w", "boot-1");
  request.clear_wait();
  EXPECT_EQ(driver_->StartAcquire(request).get()->leases_size(), 1);
  EXPECT_EQ(driver_->GetStudy("a")->counts().queued(), 0);
}

TEST_F(CoordinatorTest, TrialsOfPeopleGoBeforePreparedOnes) {
  Create("a", 5);
  ASSERT_OK(driver_->Finish(Acquire(), 0.5));
  while (driver_->GetStudy("a")->counts().queued() == 0) {
  }
  v1::EnqueueTrialsRequest enqueue;
  enqueue.set_request_id(RandomHexId());
  enqueue.set_name("studies/a");
  enqueue.add_trials();
  const auto enqueued = driver_->Call<v1::EnqueueTrialsReply>(enqueue);
  ASSERT_OK(enqueued);
  EXPECT_EQ(Acquire().trial(), enqueued->trials(0).name());
}

TEST_F(CoordinatorTest, AllTrialsOfAStudySplitTheirDataAlike) {
  v1::CreateStudyRequest create = ExampleStudy("a", 2);
  create.mutable_spec()->mutable_data()->set_id("imdb");
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(create));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  const v1::Lease one = Acquire(), two = Acquire();
  EXPECT_EQ(one.spec().data().split_seed(), create.spec().seed());
  EXPECT_EQ(two.spec().data().split_seed(), create.spec().seed());
  EXPECT_NE(one.spec().seed(), two.spec().seed());
}

TEST_F(CoordinatorTest, ARepeatedAcquireGetsTheSameLease) {
  Create("a", 3);
  const v1::AcquireRequest request = Driver::AcquireOf("w", "boot-1");
  const auto first = driver_->StartAcquire(request).get();
  const auto again = driver_->StartAcquire(request).get();
  ASSERT_EQ(first->leases_size(), 1);
  EXPECT_EQ(again->leases(0).trial(), first->leases(0).trial());
  EXPECT_EQ(again->leases(0).secret(), first->leases(0).secret());
  EXPECT_EQ(driver_->GetStudy("a")->counts().running(), 1);
}

TEST_F(CoordinatorTest, ARequestSentAgainWhileItWaitsIsLeasedOneTrial) {
  ASSERT_OK(driver_->Register("w", "boot-1"));
  const v1::AcquireRequest request = Driver::AcquireOf("w", "boot-1");
  auto first = driver_->StartAcquire(request);
  auto again = driver_->StartAcquire(request);
  EXPECT_EQ(first.get()->leases_size(), 0);
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 3)));
  EXPECT_EQ(again.get()->leases_size(), 1);
  EXPECT_EQ(driver_->GetStudy("a")->counts().running(), 1);
}

TEST_F(CoordinatorTest, ACallOfAnEarlierLifeIsLeasedNothing) {
  ASSERT_OK(driver_->Register("w", "boot-1"));
  auto earlier = driver_->StartAcquire(Driver::AcquireOf("w", "boot-1"));
  ASSERT_OK(driver_->Register("w", "boot-2"));
  EXPECT_EQ(earlier.get()->leases_size(), 0);
}

TEST_F(CoordinatorTest, AStallOfTheCoordinatorEndsNoLease) {
  Create("a", 1);
  const v1::Lease lease = Acquire();
  clock_.Advance(seconds(300));  // at one stroke: nothing could be heard
  for (int i = 0; i < 3; ++i) (void)driver_->GetStudy("a");
  EXPECT_EQ(driver_->GetStudy("a")->counts().running(), 1);
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", lease)->directives(0).action(),
            v1::Directive::CONTINUE);
}

TEST_F(CoordinatorTest, ALateResultFreesTheWorkerThatHadTakenOver) {
  Create("a", 2);
  ASSERT_OK(driver_->Register("other", "boot-2"));
  const v1::Lease first = Acquire();
  Pass(seconds(61));
  ASSERT_EQ(driver_->AcquireOne("other", "boot-2").trial(), first.trial());
  ASSERT_EQ(driver_->Finish(first, 0.7)->verdict(), v1::FinishReply::ACCEPTED);
  // Had it kept the trial in its books, its next life would trip over it.
  ASSERT_OK(driver_->Register("other", "boot-3"));
  const auto workers =
      driver_->Call<v1::ListWorkersReply>(v1::ListWorkersRequest());
  for (const v1::Worker& worker : workers->workers()) {
    EXPECT_EQ(worker.trials_size(), 0) << worker.name();
  }
}

TEST_F(CoordinatorTest, AnIdleStudyEndsWhenItsTimeIsUp) {
  v1::CreateStudyRequest request = ExampleStudy("a", 9);
  request.mutable_settings()->mutable_budget()->mutable_time()->set_seconds(60);
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  Pass(seconds(62));
  EXPECT_EQ(driver_->GetStudy("a")->state(), v1::STUDY_STATE_COMPLETED);
}

TEST_F(CoordinatorTest, ATrialLetFinishThatDoesNotIsCancelled) {
  Create("a", 5);
  const v1::Lease lease = Acquire();
  v1::StopStudyRequest stop;
  stop.set_request_id("stop-request-00001");
  stop.set_name("studies/a");
  stop.set_let_running_finish(true);
  ASSERT_OK(driver_->Call<v1::Study>(stop));
  EXPECT_EQ(driver_->GetStudy("a")->counts().running(), 1);
  Pass(seconds(61));
  EXPECT_EQ(driver_->GetStudy("a")->counts().cancelled(), 1);
}

TEST_F(CoordinatorTest, ALeaseWithoutHeartbeatGoesToAnotherWorker) {
  Create("a", 1);
  ASSERT_OK(driver_->Register("other", "boot-2"));
  const v1::Lease first = Acquire();
  Pass(seconds(61));
  const v1::Lease second = driver_->AcquireOne("other", "boot-2");
  EXPECT_EQ(second.trial(), first.trial());
  EXPECT_EQ(second.attempt(), 2);
  EXPECT_THAT(driver_->Report(first, 0, 0.5), FailsWith(ErrorId::kLeaseLost));
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", first)->directives(0).action(),
            v1::Directive::LEASE_LOST);
}

TEST_F(CoordinatorTest, AHeartbeatKeepsTheLease) {
  Create("a", 1);
  const v1::Lease lease = Acquire();
  for (int i = 0; i < 4; ++i) {
    Pass(seconds(45));
    EXPECT_EQ(driver_->Heartbeat("w", "boot-1", lease)->directives(0).action(),
              v1::Directive::CONTINUE);
  }
  EXPECT_OK(driver_->Finish(lease, 0.5));
}

TEST_F(CoordinatorTest, AJumpOfWallTimeEndsNoLease) {
  Create("a", 1);
  const v1::Lease lease = Acquire();
  clock_.JumpWall(86'400'000'000);
  Pass(seconds(1));
  EXPECT_EQ(driver_->Finish(lease, 0.5)->verdict(), v1::FinishReply::ACCEPTED);
}

TEST_F(CoordinatorTest, ALateHeartbeatTakesUpALeaseThatNobodyTook) {
  Create("a", 1);
  const v1::Lease lease = Acquire();
  Pass(seconds(61));
  EXPECT_EQ(driver_->GetStudy("a")->counts().queued(), 1);
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", lease)->directives(0).action(),
            v1::Directive::CONTINUE);
  EXPECT_EQ(driver_->GetStudy("a")->counts().running(), 1);
  EXPECT_OK(driver_->Report(lease, 0, 0.5));
}

TEST_F(CoordinatorTest, TheSoleResultOfALostAttemptCounts) {
  Create("a", 1);
  const v1::Lease lease = Acquire();
  Pass(seconds(61));
  EXPECT_EQ(driver_->Finish(lease, 0.7)->verdict(), v1::FinishReply::ACCEPTED);
  EXPECT_EQ(driver_->Finish(lease, 0.7)->verdict(), v1::FinishReply::ACCEPTED);
  EXPECT_EQ(driver_->GetStudy("a")->counts().succeeded(), 1);
}

TEST_F(CoordinatorTest, AWorkerStartedAgainGetsItsTrialsBackFirst) {
  Create("a", 2);
  ASSERT_OK(driver_->Register("other", "boot-x"));
  const v1::Lease first = Acquire();
  const auto again = driver_->Register("w", "boot-2");
  ASSERT_EQ(again->own_trials_size(), 1);
  EXPECT_EQ(again->own_trials(0), first.trial());
  EXPECT_EQ(driver_->AcquireOne("w", "boot-2").trial(), first.trial());
  // The earlier life speaks no more.
  EXPECT_THAT(driver_->Heartbeat("w", "boot-1", first),
              FailsWith(ErrorId::kWorkerUnknown));
}

TEST_F(CoordinatorTest, StepsRiseAndARepeatedReportIsHarmless) {
  Create("a", 1);
  const v1::Lease lease = Acquire();
  ASSERT_OK(driver_->Report(lease, 3, 0.5));
  EXPECT_OK(driver_->Report(lease, 3, 0.5));
  EXPECT_THAT(driver_->Report(lease, 3, 0.6),
              FailsWith(ErrorId::kReportConflict));
  ASSERT_OK(driver_->Report(lease, 5, 0.7));
  EXPECT_THAT(driver_->Report(lease, 4, 0.6),
              FailsWith(ErrorId::kStepOutOfOrder));
  v1::ListMeasurementsRequest request;
  request.set_name(lease.trial());
  EXPECT_EQ(
      driver_->Call<v1::ListMeasurementsReply>(request)->measurements_size(),
      2);
}

TEST_F(CoordinatorTest, AnObjectiveThatIsMissingOrNotFiniteIsRefused) {
  Create("a", 1);
  const v1::Lease lease = Acquire();
  EXPECT_THAT(driver_->Finish(lease, std::nan("")),
              FailsAt(ErrorId::kMetricNotFinite, "outcome.metrics.accuracy"));
  v1::FinishRequest request;
  *request.mutable_lease() = Driver::RefOf(lease);
  request.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  EXPECT_THAT(driver_->Call<v1::FinishReply>(request),
              FailsWith(ErrorId::kObjectiveMissing));
  EXPECT_OK(driver_->Finish(lease, 0.5));  // nothing was changed
}

TEST_F(CoordinatorTest, ThePrunerSpeaksOnTheReplyToAReport) {
  v1::CreateStudyRequest request = ExampleStudy("a", 9);
  request.mutable_settings()->mutable_pruner()->set_name("median");
  (*request.mutable_settings()
        ->mutable_pruner()
        ->mutable_options())["startup_trials"] = "2";
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  for (int i = 0; i < 3; ++i) {
    const v1::Lease good = Acquire();
    ASSERT_OK(driver_->Report(good, 1, 0.9));
    ASSERT_OK(driver_->Finish(good, 0.9));
  }
  const v1::Lease bad = Acquire();
  EXPECT_EQ(driver_->Report(bad, 1, 0.1)->directive().action(),
            v1::Directive::STOP_PRUNED);
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", bad)->directives(0).action(),
            v1::Directive::STOP_PRUNED);
}

// Bracket 0 judges at step 1, bracket 1 at step 3.
TEST_F(CoordinatorTest, HyperbandDealsTrialsOutByTheStudysId) {
  v1::CreateStudyRequest request = ExampleStudy("a", 12);
  request.mutable_settings()->mutable_pruner()->set_name("hyperband");
  (*request.mutable_settings()
        ->mutable_pruner()
        ->mutable_options())["max_resource"] = "3";
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  const auto shares = sampler::BracketShares(2, 3);
  int came = 0;
  for (std::int64_t n = 0; n < 12; ++n) {
    const v1::Lease lease = Acquire();
    const double worse = 0.9 - 0.01 * static_cast<double>(n);
    const bool judged = sampler::BracketOf("a", n, shares) == 0;
    EXPECT_EQ(driver_->Report(lease, 1, worse)->directive().action() ==
                  v1::Directive::STOP_PRUNED,
              judged && came > 0)
        << n;
    came += judged ? 1 : 0;
    ASSERT_OK(driver_->Finish(lease, worse));
  }
}

TEST_F(CoordinatorTest,
       APausedStudyLeasesNothingAndAStoppedOneTellsItsWorkers) {
  Create("a", 5);
  const v1::Lease lease = Acquire();
  v1::PauseStudyRequest pause;
  pause.set_request_id("pause-request-0001");
  pause.set_name("studies/a");
  ASSERT_OK(driver_->Call<v1::Study>(pause));
  v1::AcquireRequest acquire = Driver::AcquireOf("w", "boot-1");
  acquire.clear_wait();
  EXPECT_EQ(driver_->StartAcquire(acquire).get()->none_reason(),
            v1::STUDY_PAUSED);
  v1::StopStudyRequest stop;
  stop.set_request_id("stop-request-00001");
  stop.set_name("studies/a");
  EXPECT_EQ(driver_->Call<v1::Study>(stop)->state(), v1::STUDY_STATE_STOPPED);
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", lease)->directives(0).action(),
            v1::Directive::STOP_CANCELLED);
  EXPECT_EQ(driver_->Finish(lease, 0.4)->verdict(), v1::FinishReply::CANCELLED);
}

TEST_F(CoordinatorTest, TheSameStudyAgainIsTheSameStudyAndAnotherIsRefused) {
  Create("a", 5);
  v1::CreateStudyRequest again = ExampleStudy("a", 5);
  EXPECT_OK(driver_->Call<v1::CreateStudyReply>(again));
  v1::CreateStudyRequest other = ExampleStudy("a", 5);
  other.mutable_spec()->mutable_model()->set_id("large");
  const auto refused = driver_->Call<v1::CreateStudyReply>(other);
  EXPECT_THAT(refused, FailsWith(ErrorId::kStudyAlreadyExists));
  EXPECT_THAT(std::string(refused.status().message()),
              ::testing::HasSubstr("model"));
}

TEST_F(CoordinatorTest, ACallWhoseCallerHasGoneIsNotRun) {
  Create("a", 5);
  const auto gone = std::make_shared<std::atomic<bool>>(true);
  v1::PauseStudyRequest pause;
  pause.set_request_id("pause-request-00001");
  pause.set_name("studies/a");
  EXPECT_EQ(driver_->Start<v1::Study>(pause, gone).get().status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(driver_->GetStudy("a")->state(), v1::STUDY_STATE_ACTIVE);
  EXPECT_EQ(driver_->Call<v1::Study>(pause)->state(), v1::STUDY_STATE_PAUSED);
}

TEST_F(CoordinatorTest, ARequestIdIsForOneRequest) {
  v1::CreateStudyRequest request = ExampleStudy("a", 5);
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  EXPECT_OK(driver_->Call<v1::CreateStudyReply>(request));
  request.set_study_id("b");
  EXPECT_THAT(driver_->Call<v1::CreateStudyReply>(request),
              FailsWith(ErrorId::kRequestIdReused));
  EXPECT_THAT(driver_->GetStudy("b"), FailsWith(ErrorId::kStudyNotFound));
}

TEST_F(CoordinatorTest, ADryRunStoresNothing) {
  v1::CreateStudyRequest request = ExampleStudy("a", 5);
  request.set_validate_only(true);
  const auto reply = driver_->Call<v1::CreateStudyReply>(request);
  ASSERT_OK(reply);
  EXPECT_EQ(reply->modules_size(), 5);
  EXPECT_EQ(reply->space_size(), 9);
  EXPECT_THAT(driver_->GetStudy("a"), FailsWith(ErrorId::kStudyNotFound));
}

TEST_F(CoordinatorTest, AnExhaustedGridCompletesTheStudy) {
  v1::CreateStudyRequest request = ExampleStudy("a", 100);
  request.mutable_spec()->mutable_sampler()->set_name("grid");
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  std::set<std::pair<double, double>> points;
  for (int i = 0; i < 9; ++i) {
    const v1::Lease lease = Acquire();
    points.insert({lease.spec().rates(1).rate(), lease.spec().rates(2).rate()});
    ASSERT_OK(driver_->Finish(lease, 0.5));
  }
  EXPECT_EQ(points.size(), 9u);
  v1::AcquireRequest acquire = Driver::AcquireOf("w", "boot-1");
  acquire.set_study("studies/a");
  auto last = driver_->StartAcquire(acquire);
  while (driver_->GetStudy("a")->state() == v1::STUDY_STATE_ACTIVE) {
    std::this_thread::yield();
  }
  clock_.Advance(seconds(30));
  EXPECT_EQ(last.get()->none_reason(), v1::STUDY_ENDED);
}

// layer.1 alone matters, and it does not take the whole budget to see that.
TEST_F(CoordinatorTest, AStudyEndsWithItsAnswer) {
  v1::CreateStudyRequest request = ExampleStudy("a", 200);
  request.mutable_spec()->mutable_sampler()->set_name("levels-gp");
  auto& frontier =
      *request.mutable_settings()->mutable_stop_when()->mutable_frontier();
  frontier.set_tolerance(0.05);
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  v1::AcquireRequest acquire = Driver::AcquireOf("w", "boot-1");
  v1::Study study = *driver_->GetStudy("a");
  for (int i = 0; i < 100; ++i) {
    acquire.set_request_id("acquire-request-" + std::to_string(100 + i));
    auto answer = driver_->StartAcquire(acquire);
    while (answer.wait_for(std::chrono::milliseconds(1)) !=
               std::future_status::ready &&
           study.state() == v1::STUDY_STATE_ACTIVE) {
      study = *driver_->GetStudy("a");
    }
    if (study.state() != v1::STUDY_STATE_ACTIVE) break;
    const v1::Lease lease = answer.get()->leases(0);
    const bool trained = lease.spec().rates(2).rate() > 0.0;
    ASSERT_OK(driver_->Finish(lease, (trained ? 0.9 : 0.7) + 1e-3 * (i % 7)));
  }
  clock_.Advance(seconds(30));  // nobody waits for a trial any more
  EXPECT_EQ(study.state(), v1::STUDY_STATE_COMPLETED);
  EXPECT_THAT(study.state_reason(),
              testing::HasSubstr("trials: training 1 of 2 modules (layer.1) "
                                 "is enough: accuracy 0.90"));
}

TEST_F(CoordinatorTest, AWatcherSeesEveryChangeInOrder) {
  Create("a", 2);
  std::int64_t revision = 0;
  std::set<std::string> ended;
  for (int i = 0; i < 2; ++i) ASSERT_OK(driver_->Finish(Acquire(), 0.5));
  while (true) {
    const auto events = driver_->NextEvents("a", revision);
    ASSERT_OK(events);
    ASSERT_FALSE(events->empty());
    for (const v1::StudyEvent& event : *events) {
      ASSERT_GE(event.revision(), revision);
      revision = event.revision();
      if (event.trial().state() == v1::TRIAL_STATE_SUCCEEDED) {
        ended.insert(event.trial().name());
      }
    }
    if (events->back().study().state() == v1::STUDY_STATE_COMPLETED) break;
  }
  EXPECT_EQ(ended.size(), 2u);
  EXPECT_THAT(driver_->NextEvents("a", revision + 1),
              FailsWith(ErrorId::kHistoryGone));
}

TEST_F(CoordinatorTest, TrialsAreListedInPages) {
  Create("a", 25);
  for (int i = 0; i < 25; ++i) ASSERT_OK(driver_->Finish(Acquire(), 0.01 * i));
  v1::ListTrialsRequest request;
  request.set_parent("studies/a");
  request.set_page_size(10);
  request.set_filter("values[0] >= 0.05");
  std::vector<std::int64_t> numbers;
  int pages = 0;
  do {
    const auto page = driver_->Call<v1::ListTrialsReply>(request);
    ASSERT_OK(page);
    for (const v1::Trial& trial : page->trials()) {
      numbers.push_back(trial.number());
    }
    request.set_page_token(page->next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 2);
  ASSERT_EQ(numbers.size(), 20u);
  EXPECT_EQ(numbers.front(), 5);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_F(CoordinatorTest, DrainAnswersWhoIsWaiting) {
  ASSERT_OK(driver_->Register("w", "boot-1"));
  auto waiting = driver_->StartAcquire(Driver::AcquireOf("w", "boot-1"));
  driver_->coordinator().Drain();
  EXPECT_EQ(waiting.get()->none_reason(), v1::DRAINING);
  EXPECT_THAT(driver_->GetStudy("a"), FailsWith(ErrorId::kCoordinatorDraining));
}

TEST_F(CoordinatorTest, ARestartLosesNothingAndGivesLeasesTheirGrace) {
  Create("a", 3);
  ASSERT_OK(driver_->Finish(Acquire(), 0.3));
  const v1::Lease running = Acquire();
  ASSERT_OK(driver_->Report(running, 0, 0.1));
  const v1::Study before = *driver_->GetStudy("a");
  driver_ = std::make_unique<Driver>(*store_, clock_);
  ASSERT_OK(driver_->started());
  const v1::Study after = *driver_->GetStudy("a");
  EXPECT_EQ(after.SerializeAsString(), before.SerializeAsString());
  Pass(seconds(170));  // 60 s of lease and 120 s of grace
  EXPECT_OK(driver_->Finish(running, 0.6));
  ASSERT_OK(driver_->Finish(Acquire(), 0.4));
  EXPECT_EQ(driver_->GetStudy("a")->state(), v1::STUDY_STATE_COMPLETED);
  EXPECT_EQ(driver_->GetStudy("a")->best_trials(0), running.trial());
}

TEST_F(CoordinatorTest, TwoRunsOfOneSeedProposeTheSameTrials) {
  const auto run = [this](const std::string& id) {
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy(id, 6)));
    std::vector<double> rates;
    for (int i = 0; i < 6; ++i) {
      const v1::Lease lease = Acquire();
      for (const auto& rate : lease.spec().rates())
        rates.push_back(rate.rate());
      EXPECT_OK(driver_->Finish(lease, rates.back()));
    }
    return rates;
  };
  ASSERT_OK(driver_->Register("w", "boot-1"));
  EXPECT_EQ(run("a"), run("b"));
}

TEST_F(CoordinatorTest, EightFailuresInARowTakeItOutOfService) {
  Create("a", 50);
  for (int i = 0; i < 8; ++i) {
    v1::FinishRequest request;
    *request.mutable_lease() = Driver::RefOf(Acquire());
    request.mutable_outcome()->set_kind(v1::Outcome::FAILED);
    ASSERT_OK(driver_->Call<v1::FinishReply>(request));
  }
  v1::AcquireRequest acquire = Driver::AcquireOf("w", "boot-1");
  acquire.clear_wait();
  EXPECT_EQ(driver_->StartAcquire(acquire).get()->none_reason(),
            v1::QUARANTINED);
}

}  // namespace
}  // namespace frostline::server

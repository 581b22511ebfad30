// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The verbs of people beyond create, list and watch.

class TrialMethodsTest : public ::testing::Test {
 protected:
  TrialMethodsTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})),
        driver_(std::make_unique<Driver>(*store_, clock_)) {
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 4)));
    EXPECT_OK(driver_->Register("w", "boot-1"));
  }

  v1::Lease Acquire() { return driver_->AcquireOne("w", "boot-1"); }
  v1::Study Study() { return *driver_->GetStudy("a"); }
  // With a request id of its own.
  template <typename Request>
  static Request On(const std::string& name) {
    Request request;
    request.set_request_id(RandomHexId());
    request.set_name(name);
    return request;
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(TrialMethodsTest, EnqueuedTrialsGoFirstAndCount) {
  auto request = On<v1::EnqueueTrialsRequest>("studies/a");
  (*request.add_trials()->mutable_values())["layer.0"].set_number_value(1e-4);
  const auto enqueued = driver_->Call<v1::EnqueueTrialsReply>(request);
  ASSERT_OK(enqueued);
  const v1::Lease lease = Acquire();
  EXPECT_EQ(lease.trial(), enqueued->trials(0).name());
  EXPECT_EQ(lease.spec().rates(1).rate(), 1e-4);
  ASSERT_OK(driver_->Finish(lease, 0.5));
  for (int i = 0; i < 3; ++i) ASSERT_OK(driver_->Finish(Acquire(), 0.5));
  EXPECT_EQ(Study().state(), v1::STUDY_STATE_COMPLETED);
  EXPECT_EQ(Study().counts().budget_used(), 4);
}

TEST_F(TrialMethodsTest, AFinishIsAnsweredWithTheTrialAsItEnded) {
  ASSERT_OK_AND_ASSIGN(const auto reply, driver_->Finish(Acquire(), 0.5));
  EXPECT_EQ(reply.trial().state(), v1::TRIAL_STATE_SUCCEEDED);
  EXPECT_EQ(reply.trial().metrics().at("accuracy"), 0.5);
  v1::GetTrialRequest request;
  request.set_name(reply.trial().name());
  ASSERT_OK_AND_ASSIGN(const auto stored, driver_->Call<v1::Trial>(request));
  EXPECT_EQ(reply.trial().revision(), stored.revision());
  ASSERT_OK_AND_ASSIGN(const auto next, driver_->Finish(Acquire(), 0.4));
  EXPECT_GT(next.trial().revision(), reply.trial().revision());
}

TEST_F(TrialMethodsTest, ALeaseSaysWhichTrialsAreBetterAndOfWhichStudy) {
  v1::CreateStudyRequest study = ExampleStudy("small", 4);
  v1::MetricConstraint& constraint = *study.mutable_spec()->add_constraints();
  constraint.set_metric("mib");
  constraint.set_upper_bound(100);
  ASSERT_OK(driver_->Call<v1::Study>(On<v1::PauseStudyRequest>("studies/a")));
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(study));
  const v1::TrialSpec spec = Acquire().spec();
  ASSERT_EQ(spec.constraints_size(), 1);
  EXPECT_EQ(spec.constraints(0).metric(), "mib");
  EXPECT_EQ(spec.constraints(0).upper_bound(), 100);
  EXPECT_EQ(spec.study_create_time().SerializeAsString(),
            driver_->GetStudy("small")->create_time().SerializeAsString());
}

TEST_F(TrialMethodsTest, WhereAModelLiesIsKeptWithItsTrial) {
  v1::FinishRequest finish;
  *finish.mutable_lease() = Driver::RefOf(Acquire());
  finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  (*finish.mutable_outcome()->mutable_metrics())["accuracy"] = 0.5;
  v1::TrainedModel& model =
      *finish.mutable_outcome()->mutable_usage()->mutable_model();
  model.set_host("gpu03");
  model.set_folder("/data/run/trials/a/0/1/model");
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  v1::GetTrialRequest request;
  request.set_name("studies/a/trials/0");
  ASSERT_OK_AND_ASSIGN(const auto stored, driver_->Call<v1::Trial>(request));
  EXPECT_EQ(stored.usage().model().SerializeAsString(),
            model.SerializeAsString());
}

TEST_F(TrialMethodsTest, MoreThanTheBudgetCannotBeEnqueuedAndNothingIs) {
  auto request = On<v1::EnqueueTrialsRequest>("studies/a");
  for (int i = 0; i < 5; ++i) request.add_trials();
  EXPECT_THAT(driver_->Call<v1::EnqueueTrialsReply>(request),
              FailsWith(ErrorId::kBudgetInvalid));
  auto bad = On<v1::EnqueueTrialsRequest>("studies/a");
  bad.add_trials();
  (*bad.add_trials()->mutable_values())["layer.0"].set_number_value(7);
  EXPECT_THAT(driver_->Call<v1::EnqueueTrialsReply>(bad),
              FailsWith(ErrorId::kValueOutOfSpace));
  EXPECT_EQ(Study().counts().queued(), 0);
}

TEST_F(TrialMethodsTest, ACompleteStudyGoesOnForTrialsThatRaiseItsBudget) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(driver_->Finish(Acquire(), 0.5));
  ASSERT_EQ(Study().state(), v1::STUDY_STATE_COMPLETED);
  auto request = On<v1::EnqueueTrialsRequest>("studies/a");
  for (int i = 0; i < 2; ++i) request.add_trials();
  EXPECT_THAT(driver_->Call<v1::EnqueueTrialsReply>(request),
              FailsWith(ErrorId::kStudyNotActive));
  request.set_request_id(RandomHexId());
  request.set_raise_budget(true);
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::EnqueueTrialsReply>(request));
  EXPECT_EQ(reply.budget_raised_by(), 2);
  EXPECT_EQ(reply.budget(), 6);
  EXPECT_EQ(Study().state(), v1::STUDY_STATE_ACTIVE);
  EXPECT_EQ(Study().settings().budget().trials(), 6);
  // Those two and no more: the sampler gets nothing of it.
  EXPECT_EQ(Acquire().trial(), reply.trials(0).name());
  ASSERT_OK_AND_ASSIGN(const auto again,  // raised once
                       driver_->Call<v1::EnqueueTrialsReply>(request));
  EXPECT_EQ(again.budget(), 6);
  EXPECT_EQ(Study().counts().queued() + Study().counts().running(), 2);
}

TEST_F(TrialMethodsTest, ARaisedBudgetIsOnlyRaisedByWhatItLacks) {
  auto request = On<v1::EnqueueTrialsRequest>("studies/a");
  for (int i = 0; i < 6; ++i) request.add_trials();
  request.set_raise_budget(true);
  auto bad = request;
  bad.set_request_id(RandomHexId());
  (*bad.mutable_trials(4)->mutable_values())["layer.0"].set_number_value(7);
  EXPECT_THAT(driver_->Call<v1::EnqueueTrialsReply>(bad),
              FailsWith(ErrorId::kValueOutOfSpace));
  EXPECT_EQ(Study().settings().budget().trials(), 4);
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::EnqueueTrialsReply>(request));
  EXPECT_EQ(reply.budget_raised_by(), 2);  // nobody has asked for any yet
  EXPECT_EQ(reply.budget(), 6);
}

TEST_F(TrialMethodsTest, AStoppedStudyStaysStopped) {
  ASSERT_OK(driver_->Call<v1::Study>(On<v1::StopStudyRequest>("studies/a")));
  auto request = On<v1::EnqueueTrialsRequest>("studies/a");
  request.add_trials();
  request.set_raise_budget(true);
  EXPECT_THAT(driver_->Call<v1::EnqueueTrialsReply>(request),
              FailsWith(ErrorId::kStudyNotActive));
}

TEST_F(TrialMethodsTest, OfAStoppedStudyOnlyLabelsAndNotesMayChange) {
  ASSERT_OK(driver_->Call<v1::Study>(On<v1::StopStudyRequest>("studies/a")));
  const v1::StudySettings before = Study().settings();
  const auto change = [this](const std::vector<std::string>& paths) {
    auto request = On<v1::UpdateStudyRequest>("studies/a");
    v1::StudySettings& settings = *request.mutable_settings();
    settings.mutable_budget()->set_trials(9);
    settings.set_priority(3);
    settings.set_max_parallel(1);
    settings.set_notes("stopped too early");
    (*settings.mutable_labels())["seen"] = "yes";
    for (const std::string& path : paths) {
      request.mutable_update_mask()->add_paths(path);
    }
    return driver_->Call<v1::Study>(request);
  };
  for (const char* path :
       {"budget", "budget.trials", "budget.time", "priority", "max_parallel",
        "pruner", "required_worker_labels", "notify"}) {
    EXPECT_THAT(change({path}), FailsWith(ErrorId::kStudyNotActive)) << path;
    EXPECT_THAT(change({"notes", path}), FailsWith(ErrorId::kStudyNotActive));
  }
  EXPECT_EQ(Study().settings().SerializeAsString(), before.SerializeAsString());
  ASSERT_OK(change({"labels", "notes"}));
  EXPECT_EQ(Study().settings().notes(), "stopped too early");
  EXPECT_EQ(Study().settings().labels().at("seen"), "yes");
  EXPECT_EQ(Study().state(), v1::STUDY_STATE_STOPPED);
}

TEST_F(TrialMethodsTest, ImportedTrialsTeachButDoNotCount) {
  auto request = On<v1::ImportTrialsRequest>("studies/a");
  v1::ImportedTrial* const trial = request.add_trials();
  trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
  for (const char* layer : {"layer.0", "layer.1"}) {
    (*trial->mutable_parameters())[layer].set_number_value(1e-5);
  }
  (*trial->mutable_metrics())["accuracy"] = 0.99;
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(request));
  EXPECT_EQ(Study().counts().succeeded(), 1);
  EXPECT_EQ(Study().counts().budget_used(), 0);
  EXPECT_EQ(Study().best_trials(0), "studies/a/trials/0");
  v1::GetTrialLogRequest log;
  log.set_name("studies/a/trials/0");
  log.set_attempt(1);
  EXPECT_THAT(driver_->Call<v1::GetTrialLogReply>(log).status().message(),
              ::testing::HasSubstr("ended without having run here"));
  // The same call again imports nothing more.
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(request));
  EXPECT_EQ(Study().counts().succeeded(), 1);
}

TEST_F(TrialMethodsTest, AnImportedPointThatLacksAValueIsNamed) {
  auto request = On<v1::ImportTrialsRequest>("studies/a");
  for (int i = 0; i < 2; ++i) {
    v1::ImportedTrial& trial = *request.add_trials();
    trial.set_state(v1::TRIAL_STATE_FAILED);
    (*trial.mutable_parameters())["layer.0"].set_number_value(1e-5);
    if (i == 1) continue;
    (*trial.mutable_parameters())["layer.1"].set_number_value(1e-5);
  }
  const absl::Status refused =
      driver_->Call<v1::ImportTrialsReply>(request).status();
  EXPECT_TRUE(HasErrorId(refused, ErrorId::kValueOutOfSpace));
  EXPECT_EQ(DetailOf(refused)->field, "trials[1].parameters.layer.1");
}

TEST_F(TrialMethodsTest, ACancelledTrialCountsAndCannotBeCancelledAgain) {
  const v1::Lease lease = Acquire();
  EXPECT_EQ(driver_->Call<v1::Trial>(On<v1::CancelTrialRequest>(lease.trial()))
                ->state(),
            v1::TRIAL_STATE_CANCELLED);
  EXPECT_EQ(Study().counts().budget_used(), 1);
  EXPECT_THAT(
      driver_->Call<v1::Trial>(On<v1::CancelTrialRequest>(lease.trial())),
      FailsWith(ErrorId::kTrialTerminal));
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", lease)->directives(0).action(),
            v1::Directive::STOP_CANCELLED);
}

TEST_F(TrialMethodsTest, ARetryRunsThePointAgainOutsideTheBudget) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(driver_->Finish(Acquire(), 0.5));
  ASSERT_EQ(Study().state(), v1::STUDY_STATE_COMPLETED);
  const auto retry =
      driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>("studies/a/trials/2"));
  ASSERT_OK(retry);
  EXPECT_EQ(retry->origin(), v1::TRIAL_ORIGIN_RETRY);
  const v1::Lease lease = Acquire();
  EXPECT_EQ(lease.trial(), retry->name());
  EXPECT_THAT(
      driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>(retry->name())),
      FailsWith(ErrorId::kTrialNotTerminal));
  ASSERT_OK(driver_->Finish(lease, 0.9));
  EXPECT_EQ(Study().state(), v1::STUDY_STATE_COMPLETED);
  EXPECT_EQ(Study().counts().budget_used(), 4);
}

TEST_F(TrialMethodsTest, LabelsOfRunningAndEndedTrialsCanBeChanged) {
  const v1::Lease lease = Acquire();
  const auto label = [&](const std::string& value) {
    auto request = On<v1::UpdateTrialRequest>(lease.trial());
    (*request.mutable_labels())["kind"] = value;
    request.mutable_update_mask()->add_paths("labels");
    return driver_->Call<v1::Trial>(request);
  };
  ASSERT_OK(label("first"));
  ASSERT_OK(driver_->Finish(lease, 0.5));
  ASSERT_OK(label("second"));
  v1::GetTrialRequest get;
  get.set_name(lease.trial());
  const auto trial = driver_->Call<v1::Trial>(get);
  EXPECT_EQ(trial->labels().at("kind"), "second");
  EXPECT_EQ(trial->state(), v1::TRIAL_STATE_SUCCEEDED);
  EXPECT_GE(Study().revision(), trial->revision());
}

TEST_F(TrialMethodsTest, ARaisedBudgetWakesACompletedStudy) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(driver_->Finish(Acquire(), 0.5));
  auto request = On<v1::UpdateStudyRequest>("studies/a");
  request.mutable_settings()->mutable_budget()->set_trials(5);
  request.mutable_update_mask()->add_paths("budget");
  request.set_etag("not-it");
  EXPECT_THAT(driver_->Call<v1::Study>(request),
              FailsWith(ErrorId::kEtagMismatch));
  request.set_request_id(RandomHexId());
  request.set_etag(Study().etag());
  ASSERT_OK(driver_->Call<v1::Study>(request));
  ASSERT_OK(driver_->Finish(Acquire(), 0.6));
  EXPECT_EQ(Study().counts().budget_used(), 5);
  request = On<v1::UpdateStudyRequest>("studies/a");
  request.mutable_settings()->mutable_budget()->set_trials(3);
  request.mutable_update_mask()->add_paths("budget");
  EXPECT_THAT(driver_->Call<v1::Study>(request),
              FailsWith(ErrorId::kBudgetInvalid));
}

TEST_F(TrialMethodsTest, ADeletedStudyIsHiddenFreesItsIdAndIsPurgedAfterAWeek) {
  const v1::Lease lease = Acquire();
  auto request = On<v1::DeleteStudyRequest>("studies/a");
  EXPECT_THAT(driver_->Call<v1::Study>(request),
              FailsWith(ErrorId::kStudyNotActive));
  request.set_request_id(RandomHexId());
  request.set_force(true);
  ASSERT_OK(driver_->Call<v1::Study>(request));
  EXPECT_THAT(driver_->GetStudy("a"), FailsWith(ErrorId::kStudyNotFound));
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", lease)->directives(0).action(),
            v1::Directive::LEASE_LOST);
  v1::ListStudiesRequest list;
  list.set_show_deleted(true);
  EXPECT_EQ(driver_->Call<v1::ListStudiesReply>(list)->studies_size(), 1);
  clock_.Advance(std::chrono::hours(24 * 8));
  // The sweep looks for such studies on a thread of its own, and any call
  // turns the loop that begins it.
  const auto is_purged = [&] {
    (void)driver_->GetStudy("a");
    return driver_->Call<v1::ListStudiesReply>(list)->studies_size() == 0;
  };
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_purged() && std::chrono::steady_clock::now() < give_up) {
  }
  EXPECT_TRUE(is_purged());
  EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 4)));
}

TEST_F(TrialMethodsTest, TheBestTrialsAreListedBestFirst) {
  for (const double value : {0.3, 0.9, 0.5, 0.7}) {
    ASSERT_OK(driver_->Finish(Acquire(), value));
  }
  v1::ListBestTrialsRequest request;
  request.set_name("studies/a");
  request.set_limit(3);
  const auto best = driver_->Call<v1::ListBestTrialsReply>(request);
  ASSERT_OK(best);
  std::vector<std::int64_t> numbers;
  for (const v1::Trial& trial : best->trials())
    numbers.push_back(trial.number());
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 3, 2}));
}

TEST_F(TrialMethodsTest, AStudyIsExportedAsCsvAndAsJsonLines) {
  for (const double value : {0.25, 0.5}) {
    const v1::Lease lease = Acquire();
    ASSERT_OK(driver_->Report(lease, 0, 0.125));
    ASSERT_OK(driver_->Finish(lease, value));
  }
  const auto export_as = [this](v1::ExportTrialsRequest::Format format) {
    v1::ExportTrialsRequest request;
    request.set_name("studies/a");
    request.set_format(format);
    request.set_with_measurements(true);
    request.set_filter("state = SUCCEEDED");
    return driver_->Export(request);
  };
  const auto csv = export_as(v1::ExportTrialsRequest::CSV);
  ASSERT_OK(csv);
  EXPECT_THAT(csv->data, ::testing::StartsWith(
                             "number,state,origin,attempt,worker,"
                             "train_seconds,accuracy,layer.0,layer.1,"
                             "cause,seed\n0,SUCCEEDED,SAMPLED,1,w,0,0.25,"));
  EXPECT_EQ(std::count(csv->data.begin(), csv->data.end(), '\n'), 3);
  EXPECT_EQ(csv->parts, 1);
  const auto json = export_as(v1::ExportTrialsRequest::JSON_LINES);
  ASSERT_OK(json);
  EXPECT_EQ(std::count(json->data.begin(), json->data.end(), '\n'), 4);
  EXPECT_THAT(json->data,
              ::testing::HasSubstr("{\"trial\":\"studies/a/trials/1\","));
  EXPECT_THAT(export_as(v1::ExportTrialsRequest::OPTUNA_JOURNAL),
              FailsAt(ErrorId::kMethodNotBuilt, "format"));
}

TEST_F(TrialMethodsTest, ADrainedWorkerIsAskedForItsTrialsAndGetsNoMore) {
  const v1::Lease lease = Acquire();
  v1::DrainWorkerRequest drain;
  drain.set_request_id(RandomHexId());
  drain.set_worker("workers/w");
  ASSERT_OK(driver_->Call<v1::Worker>(drain));
  const auto beat = driver_->Heartbeat("w", "boot-1", lease);
  EXPECT_TRUE(beat->drain());
  EXPECT_EQ(beat->directives(0).action(),
            v1::Directive::CHECKPOINT_AND_RELEASE);
  v1::AcquireRequest acquire = Driver::AcquireOf("w", "boot-1");
  acquire.clear_wait();
  EXPECT_EQ(driver_->StartAcquire(acquire).get()->none_reason(), v1::DRAINING);
}

TEST_F(TrialMethodsTest, OneCallSaysWhyNothingRuns) {
  const auto codes = [this] {
    v1::ExplainStudyRequest request;
    request.set_name("studies/a");
    std::vector<std::string> found;
    const auto reply = driver_->Call<v1::ExplainStudyReply>(request);
    for (const auto& reason : reply->reasons()) found.push_back(reason.code());
    return found;
  };
  EXPECT_TRUE(codes().empty());
  auto update = On<v1::UpdateStudyRequest>("studies/a");
  (*update.mutable_settings()->mutable_required_worker_labels())["pool"] = "x";
  update.mutable_update_mask()->add_paths("required_worker_labels");
  ASSERT_OK(driver_->Call<v1::Study>(update));
  EXPECT_THAT(codes(), ::testing::Contains("NO_MATCHING_LABELS"));
  clock_.Advance(std::chrono::hours(1));
  EXPECT_THAT(codes(), ::testing::Contains("NO_WORKERS"));
  ASSERT_OK(driver_->Call<v1::Study>(On<v1::PauseStudyRequest>("studies/a")));
  EXPECT_THAT(codes(), ::testing::Contains("PAUSED"));
}

// The seed of a trial: who gets which, where it is seen, and what keeps it.

class TrialSeedsTest : public ::testing::Test {
 protected:
  TrialSeedsTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
  }

  void Restart() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
    ASSERT_OK(driver_->Register("w", boot_ = RandomHexId()));
  }
  void Create(const v1::CreateStudyRequest& request) {
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  }
  v1::Lease Acquire() { return driver_->AcquireOne("w", boot_); }
  // Runs trials to their end; their seeds.
  std::vector<std::uint64_t> Run(int trials) {
    std::vector<std::uint64_t> seeds;
    for (int i = 0; i < trials; ++i) {
      const v1::Lease lease = Acquire();
      seeds.push_back(lease.spec().seed());
      EXPECT_OK(driver_->Finish(lease, 0.5 + 0.01 * i));
    }
    return seeds;
  }
  template <typename Request>
  static Request On(const std::string& name) {
    Request request;
    request.set_request_id(RandomHexId());
    request.set_name(name);
    return request;
  }
  v1::Trial Get(const std::string& name) {
    v1::GetTrialRequest request;
    request.set_name(name);
    return *driver_->Call<v1::Trial>(request);
  }

  std::string Export(v1::ExportTrialsRequest::Format format) {
    v1::ExportTrialsRequest request;
    request.set_name("studies/a");
    request.set_format(format);
    return driver_->Export(request)->data;
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
  std::string boot_;
};

TEST_F(TrialSeedsTest, EachTrialHasItsOwnWhateverRestartsBetween) {
  Create(ExampleStudy("a", 8));
  const std::vector<std::uint64_t> without = Run(8);
  EXPECT_EQ(std::set<std::uint64_t>(without.begin(), without.end()).size(), 8u);
  for (int i = 0; i < 8; ++i) {
    const std::string name = "studies/a/trials/" + std::to_string(i);
    EXPECT_EQ(Get(name).seed(), without[static_cast<std::size_t>(i)]);
  }
  Create(ExampleStudy("b", 8));  // the same study, by another name
  std::vector<std::uint64_t> with;
  for (int i = 0; i < 8; ++i) {
    with.push_back(Run(1).front());
    Restart();
  }
  EXPECT_EQ(with, without);
}

TEST_F(TrialSeedsTest, AnotherAttemptAndARetryKeepIt) {
  Create(ExampleStudy("a", 4));
  const v1::Lease first = Acquire();
  v1::ReleaseRequest release;
  *release.mutable_lease() = Driver::RefOf(first);
  release.set_reason(v1::ReleaseRequest::PREEMPTED);
  ASSERT_OK(driver_->Call<v1::ReleaseReply>(release));
  Restart();
  const v1::Lease second = Acquire();
  ASSERT_EQ(second.trial(), first.trial());
  EXPECT_EQ(second.attempt(), 2);
  EXPECT_EQ(second.spec().seed(), first.spec().seed());
  ASSERT_OK(driver_->Finish(second, 0.5));
  const auto retried =
      driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>(first.trial()));
  ASSERT_OK(retried);
  EXPECT_NE(retried->number(), 0);
  EXPECT_EQ(retried->seed(), first.spec().seed());
  EXPECT_EQ(Acquire().spec().seed(), first.spec().seed());
}

TEST_F(TrialSeedsTest, ARetryMayHaveAnotherAndLaterOnesKeepThat) {
  Create(ExampleStudy("a", 4));
  const v1::Lease first = Acquire();
  ASSERT_OK(driver_->Finish(first, 0.5));
  auto retry = On<v1::RetryTrialRequest>(first.trial());
  retry.set_seed(77);
  const auto retried = driver_->Call<v1::Trial>(retry);
  ASSERT_OK(retried);
  EXPECT_EQ(retried->seed(), 77u);
  EXPECT_EQ(driver_->Call<v1::Trial>(retry)->name(), retried->name());
  Restart();
  EXPECT_EQ(Get(retried->name()).seed(), 77u);
  const v1::Lease second = Acquire();
  EXPECT_EQ(second.trial(), retried->name());
  EXPECT_EQ(second.spec().seed(), 77u);
  ASSERT_OK(driver_->Finish(second, 0.5));
  EXPECT_EQ(driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>(second.trial()))
                ->seed(),
            77u);
}

// What is sampled next does not depend on the seed that a retry was given.
TEST_F(TrialSeedsTest, ARetrysSeedLeavesTheOthersAsTheyWere) {
  std::vector<std::vector<std::uint64_t>> seeds;
  for (const char* study : {"a", "b"}) {
    Create(ExampleStudy(study, 4));
    const v1::Lease first = Acquire();
    ASSERT_OK(driver_->Finish(first, 0.5));
    auto retry = On<v1::RetryTrialRequest>(first.trial());
    if (*study == 'b') retry.set_seed(77);
    ASSERT_OK(driver_->Call<v1::Trial>(retry));
    seeds.push_back(Run(4));
  }
  EXPECT_EQ(seeds[1][0], 77u);
  seeds[0][0] = seeds[1][0];
  EXPECT_EQ(seeds[0], seeds[1]);
}

TEST_F(TrialSeedsTest, AStudyMayFixIt) {
  v1::CreateStudyRequest request = ExampleStudy("a", 3);
  request.mutable_spec()->mutable_training()->set_seed(1);
  Create(request);
  EXPECT_THAT(Run(3), Each(1u));
  EXPECT_EQ(Get("studies/a/trials/2").seed(), 1u);
}

TEST_F(TrialSeedsTest, AnEnqueuedTrialMayBringItsOwn) {
  v1::CreateStudyRequest request = ExampleStudy("a", 3);
  request.mutable_spec()->mutable_training()->set_seed(1);
  request.mutable_spec()->add_enqueue()->set_seed(5);
  Create(request);
  auto enqueue = On<v1::EnqueueTrialsRequest>("studies/a");
  enqueue.add_trials()->set_seed(6);
  const auto enqueued = driver_->Call<v1::EnqueueTrialsReply>(enqueue);
  ASSERT_OK(enqueued);
  EXPECT_EQ(enqueued->trials(0).seed(), 6u);
  const v1::Lease lease = Acquire();
  EXPECT_EQ(lease.spec().seed(), 5u);
  EXPECT_EQ(lease.spec().training().seed(), 5u);  // trainers take it first
  EXPECT_THAT(Run(2), ElementsAre(6, 1));
}

TEST_F(TrialSeedsTest, FirstRunsShareTheirsWhereTheStudyPairsThem) {
  v1::CreateStudyRequest request = ExampleStudy("a", 9);
  request.mutable_spec()->set_seeds(v1::SEED_MODE_PAIRED);
  request.mutable_spec()->mutable_sampler()->set_name("brute");
  Create(request);
  const std::vector<std::uint64_t> seeds = Run(9);
  EXPECT_THAT(seeds, Each(seeds.front()));
}

// The list is the study's: of each point, over restarts, in each record.
TEST_F(TrialSeedsTest, AListSaysWhatTheRunsOfAnyPointTrainWith) {
  v1::CreateStudyRequest request = ExampleStudy("a", 9);
  request.mutable_spec()->set_seeds(v1::SEED_MODE_PAIRED);
  request.mutable_spec()->mutable_sampler()->set_name("brute");
  for (const std::uint64_t seed : {41u, 7u}) {
    request.mutable_spec()->add_training_seeds(seed);
  }
  Create(request);
  const v1::Lease first = Acquire();
  EXPECT_EQ(first.spec().seed(), 41u);
  EXPECT_EQ(first.spec().training().seed(), 41u);  // others have it, too
  ASSERT_OK(driver_->Finish(first, 0.5));
  Restart();
  const auto retried =
      driver_->Call<v1::Trial>(On<v1::RetryTrialRequest>(first.trial()));
  ASSERT_OK(retried);
  EXPECT_EQ(Get(retried->name()).seed(), 41u);
  EXPECT_EQ(Run(3), std::vector<std::uint64_t>(3, 41u));
}

TEST_F(TrialSeedsTest, LeadersRunAgainAtTheBudgetsEndUnderPairedSeeds) {
  v1::CreateStudyRequest request = ExampleStudy("a", 13);
  request.mutable_spec()->set_seeds(v1::SEED_MODE_PAIRED);
  request.mutable_spec()->mutable_sampler()->set_name("brute");
  request.mutable_spec()->mutable_repeat()->set_times(3);
  request.mutable_spec()->mutable_repeat()->set_leaders(2);
  Create(request);
  EXPECT_EQ(driver_->GetStudy("a")->spec().repeat().after(), 9);
  request.set_request_id(RandomHexId());
  Create(request);  // the same study, though it left the number open
  const std::vector<std::uint64_t> seeds = Run(13);  // the later, the better
  EXPECT_EQ(driver_->GetStudy("a")->state(), v1::STUDY_STATE_COMPLETED);
  std::map<std::string, std::vector<int>> runs_of;
  for (int i = 0; i < 13; ++i) {
    const v1::Trial trial = Get("studies/a/trials/" + std::to_string(i));
    std::string point;
    for (const auto& value : trial.parameters()) {
      point += value.value().ShortDebugString() + ";";
    }
    EXPECT_EQ(trial.repeat(), static_cast<int>(runs_of[point].size()));
    EXPECT_EQ(trial.seed() == seeds[0], trial.repeat() == 0);
    runs_of[point].push_back(i);
  }
  int repeated = 0;
  for (const auto& [point, runs] : runs_of) repeated += runs.size() == 3;
  EXPECT_EQ(runs_of.size(), 9u);
  EXPECT_EQ(repeated, 2);
  EXPECT_EQ(seeds[9], seeds[10]);  // both leaders' second runs
  EXPECT_EQ(seeds[11], seeds[12]);
}

TEST_F(TrialSeedsTest, ImportedTrialsKeepTheirsAndTheExportHasAll) {
  Create(ExampleStudy("a", 2));
  auto request = On<v1::ImportTrialsRequest>("studies/a");
  v1::ImportedTrial* const trial = request.add_trials();
  trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial->set_seed(77);
  for (const char* layer : {"layer.0", "layer.1"}) {
    (*trial->mutable_parameters())[layer].set_number_value(1e-5);
  }
  (*trial->mutable_metrics())["accuracy"] = 0.99;
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(request));
  EXPECT_EQ(Get("studies/a/trials/0").seed(), 77u);
  const std::uint64_t own = Run(1).front();
  const std::string csv = Export(v1::ExportTrialsRequest::CSV);
  EXPECT_THAT(csv, HasSubstr(",cause,seed\n"));
  EXPECT_THAT(csv, HasSubstr(",77\n"));
  EXPECT_THAT(csv, HasSubstr("," + std::to_string(own) + "\n"));
  const std::string json = Export(v1::ExportTrialsRequest::JSON_LINES);
  EXPECT_THAT(json, HasSubstr("\"seed\":\"77\""));
}

}  // namespace
}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/coordinator.h"
#include "server/ledger/study_book.h"
#include "server/wire/spec.h"
#include "storage/factory.h"
#include "storage/trial_store.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/row_text.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A coordinator that was started again knows what the one before it knew, and
// has read what is open for it, not what has ended.

class RestartTest : public ::testing::Test {
 protected:
  RestartTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
  }

  void Restart() {
    driver_ = nullptr;
    store_.TakeRows();
    driver_ = std::make_unique<Driver>(store_, clock_);
    ASSERT_OK(driver_->started());
  }
  void Create(const std::string& id, std::int64_t budget) {
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy(id, budget)));
    ASSERT_OK(driver_->Register("w", "boot-1"));
  }
  v1::Lease Acquire() { return driver_->AcquireOne("w", "boot-1"); }
  void RunTrials(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_OK(driver_->Finish(Acquire(), 0.5 + 0.01 * (i * 7 % 11)));
    }
  }
  void End(const v1::Lease& lease, v1::Outcome::Kind kind) {
    v1::FinishRequest request;
    *request.mutable_lease() = Driver::RefOf(lease);
    request.mutable_outcome()->set_kind(kind);
    v1::Usage& usage = *request.mutable_outcome()->mutable_usage();
    usage.set_train_seconds(1.25);
    usage.set_flops_spent(3e9);
    usage.set_flops_shared(5e9);
    usage.set_prefix_hits(100);
    usage.set_prefix_misses(10);
    if (kind == v1::Outcome::SUCCEEDED || kind == v1::Outcome::PRUNED) {
      (*request.mutable_outcome()->mutable_metrics())["accuracy"] = 0.7;
    }
    ASSERT_OK(driver_->Call<v1::FinishReply>(request));
  }
  // As if all rows were read and counted, which older versions did.
  StudyBook Counted(storage::StudyKey study) {
    storage::StudyRow row = (*store_.ListStudies({.after = study - 1}))[0];
    StudyBook book(row, std::make_shared<const CheckedStudy>(
                            *CheckStored(row, ExampleLease())));
    EXPECT_OK(storage::ForEachTrial(store_, {.study = study},
                                    [&](const storage::TrialRow& trial) {
                                      book.Absorb(trial, {});
                                      return absl::OkStatus();
                                    }));
    return book;
  }
  // What is stored of all that has ended.
  storage::SummaryRow Stored(storage::StudyKey study) {
    const auto rows = *store_.ListSummaries(study - 1, 1);
    return rows.empty() ? storage::SummaryRow() : rows[0];
  }
  // Waits until a turn of the loop has come to be so.
  template <typename Condition>
  void Until(Condition is_so) {
    for (int i = 0; i < 2'000 && !is_so(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(is_so());
  }

  FakeClock clock_;
  CountingStore store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(RestartTest, AStartReadsWhatIsOpenAndNothingThatHasEnded) {
  Create("a", 20);
  RunTrials(20);
  Create("b", 40);
  RunTrials(20);
  const v1::Lease running = Acquire();
  v1::Study before[] = {*driver_->GetStudy("a"), *driver_->GetStudy("b")};
  Restart();
  const std::int64_t open =
      before[0].counts().queued() + before[0].counts().running() +
      before[1].counts().queued() + before[1].counts().running();
  EXPECT_LE(store_.TakeRows(), open + 2);  // some are being proposed
  for (const v1::Study& study : before) {
    const std::string id = study.name().substr(std::string("studies/").size());
    const v1::Study after = *driver_->GetStudy(id);
    EXPECT_EQ(after.counts().succeeded(), study.counts().succeeded());
    EXPECT_EQ(after.counts().budget_used(), study.counts().budget_used());
    EXPECT_THAT(after.best_trials(), ElementsAre(study.best_trials(0)));
  }
  EXPECT_OK(driver_->Finish(running, 0.9));
}

TEST_F(RestartTest, WhatIsStoredOfEndedTrialsIsWhatTheirRowsComeTo) {
  Create("a", 40);
  for (int i = 0; i < 12; ++i) {
    const v1::Lease lease = Acquire();
    const v1::Outcome::Kind kinds[] = {
        v1::Outcome::SUCCEEDED, v1::Outcome::PRUNED, v1::Outcome::INFEASIBLE,
        v1::Outcome::CANCELLED, v1::Outcome::SUCCEEDED};
    End(lease, kinds[i % 5]);
    if (i == 5) Restart();
  }
  v1::UpdateTrialRequest note;
  note.set_request_id(RandomHexId());
  note.set_name("studies/a/trials/3");
  note.set_note("odd");
  note.mutable_update_mask()->add_paths("note");
  ASSERT_OK(driver_->Call<v1::Trial>(note));
  v1::CancelTrialRequest cancel;
  cancel.set_request_id(RandomHexId());
  cancel.set_name(Acquire().trial());
  ASSERT_OK(driver_->Call<v1::Trial>(cancel));
  const v1::StudyUsage said = driver_->GetStudy("a")->usage();
  EXPECT_EQ(said.trials(), 12);
  EXPECT_DOUBLE_EQ(said.train_seconds(), 15.0);
  EXPECT_DOUBLE_EQ(said.flops_shared(), 60e9);
  Restart();
  EXPECT_EQ(driver_->GetStudy("a")->usage().SerializeAsString(),
            said.SerializeAsString());
  driver_ = nullptr;
  EXPECT_EQ(test::Text(Stored(1)), test::Text(Counted(1).Summary()));
  EXPECT_GT(Stored(1).train_us, 0);
  EXPECT_GT(Stored(1).cancelled, 0);
}

TEST_F(RestartTest, ADatabaseOfAnOlderVersionIsCountedOnce) {
  storage::StudyRow study;
  study.id = "old";
  study.spec = ExampleSpec().SerializeAsString();
  study.settings = ExampleStudy("old", 30).settings().SerializeAsString();
  driver_ = nullptr;
  ASSERT_OK(test::Write(store_,
                        [&](storage::Transaction& transaction) -> absl::Status {
                          study.key = *transaction.InsertStudy(study);
                          for (int n = 0; n < 20; ++n) {
                            storage::TrialRow row;
                            row.study = study.key;
                            row.number = n;
                            row.point = {0, 1};
                            row.state = TrialState::kSucceeded;
                            row.values = {n == 13 ? 0.9 : 0.1};
                            row.revision = row.ended_revision = n + 2;
                            EXPECT_OK(transaction.InsertTrial(row));
                          }
                          return absl::OkStatus();
                        }));
  Restart();
  EXPECT_EQ(store_.TakeRows(), 20);
  EXPECT_EQ(driver_->GetStudy("old")->counts().succeeded(), 20);
  EXPECT_EQ(driver_->GetStudy("old")->best_trials(0), "studies/old/trials/13");
  Until([&] { return Stored(study.key).succeeded == 20; });
  Restart();
  EXPECT_EQ(store_.TakeRows(), 0);
  EXPECT_EQ(driver_->GetStudy("old")->counts().succeeded(), 20);
  EXPECT_EQ(driver_->GetStudy("old")->revision(), 21);
  EXPECT_EQ(driver_->GetStudy("old")->best_trials(0), "studies/old/trials/13");
  ASSERT_OK(driver_->Register("w", "boot-1"));
  EXPECT_EQ(Acquire().trial(), "studies/old/trials/20");
}

// What was proposed and what the pruner said, of trials one after the other.
class SearchAfterRestart : public RestartTest,
                           public ::testing::WithParamInterface<const char*> {
 protected:
  std::vector<std::string> Run(const std::string& id,
                               const std::function<void(int)>& between) {
    v1::CreateStudyRequest request = ExampleStudy(id, 24);
    request.mutable_spec()->mutable_model()->set_layers(5);
    request.mutable_spec()->mutable_sampler()->set_name(GetParam());
    v1::PrunerSpec& pruner = *request.mutable_settings()->mutable_pruner();
    pruner.set_name("median");
    (*pruner.mutable_options())["startup_trials"] = "4";
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(request));
    EXPECT_OK(driver_->Register("w", "boot-1"));
    std::vector<std::string> said;
    for (int i = 0; i < 24; ++i) {
      between(i);
      const v1::Lease lease = Acquire();
      std::string line;
      for (const auto& rate : lease.spec().rates()) {
        absl::StrAppend(&line, rate.rate(), " ");
      }
      const double value = 0.1 * (i * 7 % 10);
      for (const int step : {1, 2}) {
        absl::StrAppend(
            &line, driver_->Report(lease, step, value)->directive().action());
        if (step == 1) between(i);
      }
      said.push_back(line);
      EXPECT_OK(driver_->Finish(lease, value));
    }
    return said;
  }
};

TEST_P(SearchAfterRestart, GoesOnAsIfThereHadBeenNone) {
  const auto never = Run("never", [](int) {});
  const auto often = Run("often", [this](int i) {
    if (i % 3 == 1) Restart();
  });
  EXPECT_EQ(never, often);
  EXPECT_THAT(absl::StrCat(often[20], often[21], often[22]),
              HasSubstr(absl::StrCat(v1::Directive::STOP_PRUNED)));
}

INSTANTIATE_TEST_SUITE_P(Samplers, SearchAfterRestart,
                         testing::Values("tpe", "qmc", "random"));

TEST_F(RestartTest, ASearchIsReadWhenItIsWantedAndDroppedWhenItsStudyEnds) {
  Create("a", 10);
  RunTrials(10);
  Restart();
  ASSERT_OK(driver_->Register("w", "boot-1"));
  ASSERT_OK(driver_->GetStudy("a"));
  EXPECT_EQ(store_.TakeRows(), 0);
  for (const int budget : {11, 12}) {
    v1::UpdateStudyRequest more;
    more.set_request_id(RandomHexId());
    more.set_name("studies/a");
    more.mutable_settings()->mutable_budget()->set_trials(budget);
    more.mutable_update_mask()->add_paths("budget");
    ASSERT_OK(driver_->Call<v1::Study>(more));
    RunTrials(1);
    EXPECT_EQ(driver_->GetStudy("a")->state(), v1::STUDY_STATE_COMPLETED);
    EXPECT_EQ(store_.TakeRows(), budget - 1);
  }
}

TEST_F(RestartTest, ARepeatedAcquireFindsItsLeasesAndNoReplyIsKept) {
  Create("a", 5);
  v1::AcquireRequest request = Driver::AcquireOf("w", "boot-1");
  request.set_max_leases(2);
  const auto first = driver_->StartAcquire(request).get();
  ASSERT_GE(first->leases_size(), 1);
  Restart();
  const auto again = driver_->StartAcquire(request).get();
  ASSERT_OK(again);
  ASSERT_EQ(again->leases_size(), first->leases_size());
  for (int i = 0; i < first->leases_size(); ++i) {
    EXPECT_EQ(again->leases(i).trial(), first->leases(i).trial());
    EXPECT_EQ(again->leases(i).secret(), first->leases(i).secret());
    EXPECT_EQ(again->leases(i).attempt(), first->leases(i).attempt());
  }
  EXPECT_EQ(driver_->GetStudy("a")->counts().running(), first->leases_size());
  EXPECT_FALSE(store_.FindReply(request.request_id())->has_value());
  ASSERT_OK(driver_->Register("v", "boot-1"));
  request.set_worker("workers/v");
  EXPECT_THAT(driver_->StartAcquire(request).get(),
              FailsWith(ErrorId::kRequestIdReused));
}

TEST_F(RestartTest, TheBestTrialIsFoundWithoutReadingTheOthers) {
  Create("a", 60);
  RunTrials(30);
  store_.TakeRows();
  v1::ListBestTrialsRequest request;
  request.set_name("studies/a");
  const auto best = driver_->Call<v1::ListBestTrialsReply>(request);
  ASSERT_OK(best);
  EXPECT_EQ(store_.TakeRows(), 0);
  ASSERT_EQ(best->trials_size(), 1);
  EXPECT_EQ(best->trials(0).name(), driver_->GetStudy("a")->best_trials(0));
  request.set_limit(7);
  EXPECT_EQ(driver_->Call<v1::ListBestTrialsReply>(request)->trials_size(), 7);
}

TEST_F(RestartTest, WorkersThatNobodyHeardOfForADayAreForgotten) {
  Create("a", 5);
  const v1::Lease held = Acquire();  // by `w`
  for (int i = 0; i < 150; ++i) {
    ASSERT_OK(driver_->Register(absl::StrCat("host-", i), "boot-1"));
  }
  v1::DrainWorkerRequest drain;
  drain.set_request_id(RandomHexId());
  drain.set_worker("workers/host-7");
  ASSERT_OK(driver_->Call<v1::Worker>(drain));
  clock_.Advance(std::chrono::hours(23));
  ASSERT_OK(driver_->Register("young", "boot-1"));
  EXPECT_THAT(*store_.ListWorkers("", 1000), SizeIs(152));
  clock_.Advance(std::chrono::hours(2));
  Until([this] { return store_.ListWorkers("", 1000)->size() == 3; });
  std::vector<std::string> left;
  const auto rows = *store_.ListWorkers("", 9);
  for (const auto& row : rows) left.push_back(row.id);
  EXPECT_THAT(left, ElementsAre("host-7", "w", "young"));
  EXPECT_EQ(driver_->Call<v1::ListWorkersReply>(v1::ListWorkersRequest())
                ->workers_size(),
            3);
  EXPECT_OK(driver_->Register("host-8", "boot-1"));
  EXPECT_OK(driver_->Finish(held, 0.5));
  clock_.Advance(std::chrono::hours(24 * 31));
  Until([this] { return store_.ListWorkers("", 1000)->empty(); });
}

TEST_F(RestartTest, AStudyThatCannotBeLoadedKeepsItsIdAndItsResultsWait) {
  Create("good", 5);
  const v1::Lease running = Acquire();
  driver_ = nullptr;
  // As an older version sees what a newer one has written.
  storage::StudyRow row = *store_.FindStudy("good");
  ASSERT_OK(test::Write(store_, [&](storage::Transaction& transaction) {
    row.settings = "\xff";
    row.etag += 1;
    return transaction.UpdateStudy(row, row.etag - 1);
  }));
  Restart();
  const auto is_unreadable = FailsWith(ErrorId::kStudyUnreadable);
  EXPECT_THAT(driver_->GetStudy("good"), is_unreadable);
  EXPECT_THAT(driver_->Report(running, 1, 0.5), is_unreadable);
  EXPECT_THAT(driver_->Finish(running, 0.5), is_unreadable);
  EXPECT_THAT(driver_->Call<v1::CreateStudyReply>(ExampleStudy("good", 5)),
              is_unreadable);
  v1::DeleteStudyRequest remove;
  remove.set_request_id(RandomHexId());
  remove.set_name("studies/good");
  EXPECT_THAT(driver_->Call<v1::Study>(remove), is_unreadable);
  const auto beat = driver_->Heartbeat("w", "boot-1", running);
  ASSERT_OK(beat);
  EXPECT_EQ(beat->directives(0).action(), v1::Directive::CONTINUE);
  const auto list =
      driver_->Call<v1::ListStudiesReply>(v1::ListStudiesRequest());
  ASSERT_EQ(list->studies_size(), 1);
  EXPECT_THAT(list->studies(0).state_reason(), HasSubstr("cannot be loaded"));
  // Others are served, and a version that can read it goes on with it.
  Create("other", 1);
  RunTrials(1);
  driver_ = nullptr;
  ASSERT_OK(test::Write(store_, [&](storage::Transaction& transaction) {
    row.settings = ExampleStudy("good", 5).settings().SerializeAsString();
    row.etag += 1;
    return transaction.UpdateStudy(row, row.etag - 1);
  }));
  Restart();
  EXPECT_EQ(driver_->Finish(running, 0.5)->verdict(),
            v1::FinishReply::ACCEPTED);
}

// Coordinators come and go: whoever lives keeps its trial, however long the
// outage, and whoever is gone does not keep it for ever.

constexpr seconds kLease(60);
constexpr seconds kGrace(120);

class RestartGraceTest : public ::testing::Test {
 protected:
  RestartGraceTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 100)));
  }

  void Restart() {
    driver_.reset();
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }
  // The worker takes a trial.
  void Begin(const std::string& worker) {
    ASSERT_OK(driver_->Register(worker, "boot-1"));
    leases_[worker] = driver_->AcquireOne(worker, "boot-1");
    ASSERT_NE(leases_[worker].trial(), "");
  }
  v1::Directive::Action Beat(const std::string& worker) {
    const auto reply = driver_->Heartbeat(worker, "boot-1", leases_.at(worker));
    return reply.ok() ? reply->directives(0).action()
                      : v1::Directive::ACTION_UNSPECIFIED;
  }
  // `living` beats all the while.
  void Pass(seconds time, const std::string& living = "") {
    for (seconds gone(0); gone < time; ++gone) {
      clock_.Advance(seconds(1));
      for (int i = 0; i < 2; ++i) (void)driver_->GetStudy("a");
      if (living.empty() || gone.count() % 15 != 5) continue;
      EXPECT_EQ(Beat(living), v1::Directive::CONTINUE);
    }
  }
  bool HasItsTrial(const std::string& worker) {
    const TrialName name = *ParseTrialName(leases_.at(worker).trial());
    const storage::TrialRow row = *store_->FindTrial(1, name.number);
    return row.state == TrialState::kRunning && row.attempt == 1;
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
  std::map<std::string, v1::Lease> leases_;  // by worker
};

TEST_F(RestartGraceTest, TenRestartsAMinuteApartDoNotKeepADeadWorkersTrial) {
  Begin("living");
  Begin("dead");
  Pass(seconds(30), "living");
  seconds kept(0);
  for (int restart = 0; restart < 10; ++restart) {
    Restart();
    Pass(seconds(30), "living");
    if (HasItsTrial("dead")) kept += seconds(30);
    Pass(seconds(30), "living");
    if (HasItsTrial("dead")) kept += seconds(30);
    EXPECT_TRUE(HasItsTrial("living")) << restart;
  }
  EXPECT_LE(kept, kLease + kGrace);
  EXPECT_GE(kept, kLease);
}

// However quick the loop is, half as much again is the most.
TEST_F(RestartGraceTest, NoPaceOfRestartsKeepsADeadWorkersTrial) {
  for (const int pace : {10, 25, 45, 90, 120, 170}) {
    SCOPED_TRACE(pace);
    Begin("living");
    Begin("dead");
    seconds kept(0);
    while (HasItsTrial("dead") && kept < seconds(1000)) {
      Restart();
      Pass(seconds(pace), pace > 10 ? "living" : "");
      kept += seconds(pace);
    }
    EXPECT_LE(kept, (kLease + kGrace) * 3 / 2 + seconds(pace));
  }
}

TEST_F(RestartGraceTest, AFleetComesBackAfterALongOutage) {
  Begin("w");
  Pass(seconds(600), "w");
  for (int outage = 0; outage < 5; ++outage) {
    driver_.reset();
    clock_.Advance(hours(24));
    Restart();
    Pass(seconds(170));  // of 180
    EXPECT_EQ(Beat("w"), v1::Directive::CONTINUE) << outage;
    Pass(seconds(100), "w");
  }
  EXPECT_TRUE(HasItsTrial("w"));
}

// A report renews the lease as a heartbeat does, so it is over a whole TTL
// later at the earliest, however many starts come between.
TEST_F(RestartGraceTest, WhoOnlyReportsIsHeardToo) {
  Begin("w");
  Pass(seconds(1));
  Restart();
  Pass(seconds(30));
  v1::ReportRequest report;
  *report.mutable_lease() = Driver::RefOf(leases_.at("w"));
  report.set_sequence(1);
  (*report.add_measurements()->mutable_metrics())["accuracy"] = 0.5;
  ASSERT_OK(driver_->Call<v1::ReportReply>(report));
  Pass(seconds(1));
  for (int restart = 0; restart < 20; ++restart) Restart();
  Pass(kLease - seconds(5));
  EXPECT_TRUE(HasItsTrial("w"));
  Pass(seconds(10));
  EXPECT_FALSE(HasItsTrial("w"));
}

}  // namespace
}  // namespace frostline::server

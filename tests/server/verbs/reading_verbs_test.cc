// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/reading_verbs.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "gmock/gmock.h"
#include "server/wire/filter.h"
#include "server/wire/limits.h"
#include "storage/factory.h"
#include "tests/server/counting_fixture.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

// Lists, exports and what is of one trial: messages stay small, nobody is read
// for who has hung up, and no list is before a single trial.

class ReadingTest : public CountingFixture {
 protected:
  void SetUp() override {
    CountingFixture::SetUp();
    v1::ImportTrialsRequest import;
    import.set_request_id(RandomHexId());
    import.set_name("studies/a");
    v1::ImportedTrial* const trial = import.add_trials();
    for (const char* const module : {"layer.0", "layer.1"}) {
      (*trial->mutable_parameters())[module].set_number_value(1e-5);
    }
    trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
    (*trial->mutable_metrics())["accuracy"] = 0.5;
    ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(import));
    ASSERT_OK_AND_ASSIGN(row_, store_->FindTrial(1, 0));
  }

  // Writes behind a coordinator that is down, then starts another.
  void Write(const std::function<absl::Status(storage::Transaction&)>& body) {
    driver_ = nullptr;
    ASSERT_OK_AND_ASSIGN(const storage::Epoch epoch, store_->TakeLead());
    {
      ASSERT_OK_AND_ASSIGN(const auto transaction, store_->Begin(epoch));
      ASSERT_OK(transaction->Operation([&] { return body(*transaction); }));
      ASSERT_OK(transaction->Commit());
    }
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }

  // Trials like the first one, after it.
  void AddTrials(int count) {
    Write([&](storage::Transaction& transaction) -> absl::Status {
      for (int i = 1; i <= count; ++i) {
        storage::TrialRow row = row_;
        row.number = i;
        row.revision = row.ended_revision = row_.revision + i;
        RETURN_IF_ERROR(transaction.InsertTrial(row));
      }
      return absl::OkStatus();
    });
  }

  // Trial 0 has had so many attempts.
  void AddAttempts(int count, const std::string& cause, std::size_t examples) {
    v1::Outcome outcome;
    outcome.mutable_examples()->set_data(std::string(examples, 'x'));
    Write([&](storage::Transaction& transaction) -> absl::Status {
      storage::TrialRow row = row_;
      row.attempt = count;
      RETURN_IF_ERROR(transaction.UpdateTrial(row, {row.state, 0, {}}));
      for (int i = 1; i <= count; ++i) {
        storage::AttemptRow attempt;
        attempt.study = 1;
        attempt.attempt = i;
        attempt.state = AttemptState::kSuperseded;
        attempt.cause = cause;
        attempt.outcome = outcome.SerializeAsString();
        RETURN_IF_ERROR(transaction.PutAttempt(attempt));
      }
      return absl::OkStatus();
    });
  }

  void AddCurve(int steps) {
    Write([&](storage::Transaction& transaction) {
      std::vector<storage::MeasurementRow> rows;
      for (int step = 1; step <= steps; ++step) {
        rows.push_back(
            {.study = 1,
             .measurement = {.step = step,
                             .metrics = {{"accuracy", 1.0 / step}}}});
      }
      return transaction.AddMeasurements(rows);
    });
  }

  // The pages of all trials, whole; at most ten of them.
  std::vector<v1::ListTrialsReply> Pages() {
    std::vector<v1::ListTrialsReply> pages;
    v1::ListTrialsRequest request;
    request.set_parent("studies/a");
    request.set_view(v1::TRIAL_VIEW_FULL);
    while (pages.size() < 10) {
      auto page = driver_->Call<v1::ListTrialsReply>(request);
      EXPECT_OK(page);
      if (!page.ok()) break;
      request.set_page_token(page->next_page_token());
      pages.push_back(*std::move(page));
      if (request.page_token().empty()) break;
    }
    return pages;
  }

  storage::TrialRow row_;
};

TEST_F(ReadingTest, ATrialWithoutOutcomesIsNotSaidToBeMissing) {
  v1::GetExampleOutcomesRequest request;
  request.set_name("studies/a/trials/0");
  EXPECT_THAT(driver_->Call<v1::ExampleOutcomes>(request),
              FailsAt(ErrorId::kOutcomesMissing, "name"));
  request.set_name("studies/a/trials/1");
  EXPECT_THAT(driver_->Call<v1::ExampleOutcomes>(request),
              FailsWith(ErrorId::kTrialNotFound));
}

TEST_F(ReadingTest, ATrialOfManyMebibytesIsListedWithoutItsExamples) {
  AddAttempts(10, "late", std::size_t{500} << 10);
  AddTrials(2);
  const auto pages = Pages();
  ASSERT_LE(pages.size(), 2u);
  int shown = 0;
  for (const v1::ListTrialsReply& page : pages) {
    EXPECT_LE(page.ByteSizeLong(), kMostPageBytes + 1024);
    shown += page.trials_size();
  }
  EXPECT_EQ(shown, 3);
  const v1::Trial& first = pages[0].trials(0);
  ASSERT_EQ(first.attempts_size(), 10);
  // The newest keep what fits.
  EXPECT_FALSE(first.attempts(0).superseded_outcome().has_examples());
  EXPECT_TRUE(first.attempts(9).superseded_outcome().has_examples());
  v1::GetTrialRequest get;
  get.set_name("studies/a/trials/0");
  EXPECT_LE(driver_->Call<v1::Trial>(get)->ByteSizeLong(), kMostPageBytes);
}

TEST_F(ReadingTest, OfThousandsOfAttemptsTheNewestAreShown) {
  AddAttempts(2'000, std::string(4'000, 'c'), 0);
  const auto pages = Pages();
  ASSERT_EQ(pages.size(), 1u);
  const auto& attempts = pages[0].trials(0).attempts();
  EXPECT_GT(attempts.size(), 700);
  EXPECT_LT(attempts.size(), 800);
  EXPECT_EQ(attempts.rbegin()->number(), 2'000);
  EXPECT_EQ(attempts.begin()->number(), 2'000 - attempts.size() + 1);
}

TEST_F(ReadingTest, OfTheBestAsManyAreShownAsFitIntoAMessage) {
  AddAttempts(2'000, std::string(4'000, 'c'), 0);
  AddTrials(200);
  v1::ListBestTrialsRequest request;
  request.set_name("studies/a");
  request.set_limit(200);
  const auto best = driver_->Call<v1::ListBestTrialsReply>(request);
  ASSERT_OK(best);
  EXPECT_TRUE(best->truncated());
  EXPECT_LT(best->trials_size(), 50);
  EXPECT_EQ(best->trials(0).name(), "studies/a/trials/0");
  EXPECT_LE(best->ByteSizeLong(), kMostPageBytes + 1024);
  request.set_limit(1);
  EXPECT_FALSE(driver_->Call<v1::ListBestTrialsReply>(request)->truncated());
}

TEST_F(ReadingTest, PagesOfACurveAreBoundedInBytes) {
  Write([](storage::Transaction& transaction) {
    std::vector<storage::MeasurementRow> rows(400);
    for (std::int64_t step = 0; step < 400; ++step) {
      storage::MeasurementRow& row = rows[static_cast<std::size_t>(step)];
      row.study = 1;
      row.measurement.step = step;
      for (int m = 0; m < 64; ++m) {
        const std::string name = absl::StrCat(std::string(200, 'm'), m);
        row.measurement.metrics[name] = m;
      }
    }
    return transaction.AddMeasurements(rows);
  });
  v1::ListMeasurementsRequest request;
  request.set_name("studies/a/trials/0");
  request.set_page_size(1'000);
  std::vector<std::int64_t> steps;
  int pages = 0;
  do {
    const auto page = driver_->Call<v1::ListMeasurementsReply>(request);
    ASSERT_OK(page);
    EXPECT_LE(page->ByteSizeLong(), kMostPageBytes + 8 * 1024);
    for (const auto& measured : page->measurements()) {
      steps.push_back(measured.step());
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && ++pages < 10);
  EXPECT_EQ(pages, 1);
  ASSERT_EQ(steps.size(), 400u);
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(steps[i], static_cast<std::int64_t>(i));
  }
  request.set_downsample_to(400);
  const auto few = driver_->Call<v1::ListMeasurementsReply>(request);
  ASSERT_OK(few);
  EXPECT_LE(few->ByteSizeLong(), kMostPageBytes);
  EXPECT_EQ(few->measurements(0).step(), 0);
  EXPECT_EQ(few->measurements().rbegin()->step(), 399);
}

TEST_F(ReadingTest, APageTokenOfOneCurveIsNoneOfAnother) {
  AddTrials(1);
  AddCurve(10);
  v1::ListMeasurementsRequest request;
  request.set_name("studies/a/trials/0");
  request.set_page_size(4);
  const auto page = driver_->Call<v1::ListMeasurementsReply>(request);
  ASSERT_OK(page);
  ASSERT_NE(page->next_page_token(), "");
  request.set_page_token(page->next_page_token());
  EXPECT_OK(driver_->Call<v1::ListMeasurementsReply>(request));
  request.set_name("studies/a/trials/1");
  EXPECT_THAT(driver_->Call<v1::ListMeasurementsReply>(request),
              FailsWith(ErrorId::kPageTokenInvalid));
}

TEST_F(ReadingTest, AnExportIsCutIntoChunksOfAMebibyteEvenInsideATrial) {
  AddTrials(1'200);
  AddCurve(40'000);
  v1::ExportTrialsRequest request;
  request.set_name("studies/a");
  request.set_with_measurements(true);
  const auto chunks = [&] {
    std::vector<std::string> data;
    const NextMessages stream = driver_->Begin(request);
    while (true) {
      auto next = Driver::Next<v1::ExportChunk>(stream);
      EXPECT_OK(next);
      if (!next.ok() || next->empty()) return data;
      for (const v1::ExportChunk& chunk : *next) data.push_back(chunk.data());
    }
  };
  store_->TakeReads();
  const std::vector<std::string> cut = chunks();
  // No row is read twice: 1,201 trials in pages of 500.
  EXPECT_EQ(store_->TakeReads(), 3);
  std::string whole;
  for (const std::string& chunk : cut) {
    EXPECT_LE(chunk.size(), kMostChunkBytes);
    EXPECT_FALSE(chunk.empty());
    whole += chunk;
  }
  EXPECT_GT(cut.size(), 4u);
  EXPECT_EQ(cut.size(), (whole.size() - 1) / kMostChunkBytes + 1);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 1'201 + 40'000);
  // The same bytes as of its parts.
  std::string parts;
  for (const char* const part : {"number = 0", "number > 0"}) {
    request.set_filter(part);
    for (const std::string& chunk : chunks()) parts += chunk;
  }
  EXPECT_TRUE(parts == whole);
  EXPECT_THAT(whole, ::testing::HasSubstr("\"step\":\"40000\""));
}

TEST_F(ReadingTest, AListIsReadNoFurtherForWhoHasHungUp) {
  AddTrials(5'000);
  v1::ListTrialsRequest request;
  request.set_parent("studies/a");
  request.set_filter("values[0] > 2");  // none
  store_->TakeReads();
  store_->Hold();
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto list = driver_->Start<v1::ListTrialsReply>(request, cancelled);
  while (store_->TakeReads() == 0) std::this_thread::yield();
  cancelled->store(true);
  store_->LetGo();
  EXPECT_TRUE(absl::IsCancelled(list.get().status()));
  EXPECT_EQ(store_->TakeReads(), 0);
}

TEST_F(ReadingTest, WhatIsOfOneTrialWaitsForNoList) {
  store_->Hold();
  v1::ListTrialsRequest request;
  request.set_parent("studies/a");
  std::vector<std::future<absl::StatusOr<v1::ListTrialsReply>>> lists;
  for (int i = 0; i < 40; ++i) {
    lists.push_back(driver_->Start<v1::ListTrialsReply>(request));
  }
  const std::string name = "studies/a/trials/0";
  v1::GetTrialRequest get;
  get.set_name(name);
  EXPECT_OK(driver_->Call<v1::Trial>(get));
  v1::ListMeasurementsRequest curve;
  curve.set_name(name);
  EXPECT_OK(driver_->Call<v1::ListMeasurementsReply>(curve));
  v1::GetTrialLogRequest log;
  log.set_name(name);
  EXPECT_OK(driver_->Call<v1::GetTrialLogReply>(log));
  EXPECT_OK(driver_->GetStudy("a"));
  // So many lists are read side by side in the end: a thread more whenever all
  // are stuck.
  std::size_t reads = 0;
  while (reads < CoordinatorOptions().most_reader_threads) {
    reads += static_cast<std::size_t>(store_->TakeReads());
    clock_.Advance(std::chrono::milliseconds(20));
    EXPECT_OK(driver_->GetStudy("a"));
  }
  EXPECT_EQ(reads, CoordinatorOptions().most_reader_threads);
  store_->LetGo();
  for (auto& list : lists) EXPECT_OK(list.get());
}

// Curves as workers and people send them: how long they may be, and who hears
// of them.

class CurvesTest : public ::testing::Test {
 protected:
  CurvesTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    v1::CreateStudyRequest request = ExampleStudy("a", 9);
    *request.mutable_settings()->mutable_pruner() = Median();
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(request));
    EXPECT_OK(driver_->Register("w", "boot-1"));
  }

  void Restart() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }
  v1::Lease Acquire() { return driver_->AcquireOne("w", "boot-1"); }
  static v1::PrunerSpec Median() {
    v1::PrunerSpec pruner;
    pruner.set_name("median");
    (*pruner.mutable_options())["startup_trials"] = "1";
    return pruner;
  }
  void SetPruner(const v1::PrunerSpec& pruner) {
    v1::UpdateStudyRequest request;
    request.set_request_id(RandomHexId());
    request.set_name("studies/a");
    *request.mutable_settings()->mutable_pruner() = pruner;
    request.mutable_update_mask()->add_paths("pruner");
    ASSERT_OK(driver_->Call<v1::Study>(request));
  }

  // From `first` on every third step.
  template <typename Message>
  static void AddSteps(Message& message, std::int64_t first, int count,
                       double accuracy) {
    for (int i = 0; i < count; ++i) {
      v1::Measurement* const measurement = message.add_measurements();
      measurement->set_step(3 * (first + i));
      (*measurement->mutable_metrics())["accuracy"] = accuracy;
    }
  }
  absl::StatusOr<v1::ReportReply> Report(const v1::Lease& lease,
                                         std::int64_t first, int count,
                                         double accuracy = 0.5) {
    v1::ReportRequest request;
    *request.mutable_lease() = Driver::RefOf(lease);
    AddSteps(request, first, count, accuracy);
    return driver_->Call<v1::ReportReply>(request);
  }
  // With a curve that is hard to beat.
  static v1::ImportTrialsRequest GoodTrial() {
    v1::ImportTrialsRequest request;
    request.set_request_id(RandomHexId());
    request.set_name("studies/a");
    v1::ImportedTrial* const trial = request.add_trials();
    trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
    for (const char* layer : {"layer.0", "layer.1"}) {
      (*trial->mutable_parameters())[layer].set_number_value(1e-5);
    }
    (*trial->mutable_metrics())["accuracy"] = 0.9;
    AddSteps(*trial, 1, 3, 0.8);
    return request;
  }
  void ReportUpTo(const v1::Lease& lease, std::int64_t count) {
    for (std::int64_t step = 0; step < count; step += 1000) {
      ASSERT_OK(Report(lease, step, 1000));
    }
  }
  v1::FinishRequest FinishOf(const v1::Lease& lease) {
    v1::FinishRequest request;
    *request.mutable_lease() = Driver::RefOf(lease);
    request.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
    (*request.mutable_outcome()->mutable_metrics())["accuracy"] = 0.9;
    return request;
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(CurvesTest, AStepTooManyIsRefusedAndTheResultStillCounts) {
  const v1::Lease lease = Acquire();
  ReportUpTo(lease, kMaxCurveSteps - 1000);
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1000, 999));
  EXPECT_THAT(Report(lease, kMaxCurveSteps - 1, 2),
              FailsAt(ErrorId::kFieldTooLarge, "measurements"));
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1, 1));
  EXPECT_THAT(Report(lease, kMaxCurveSteps, 1),
              FailsWith(ErrorId::kFieldTooLarge));
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1, 1));  // repeated
  v1::FinishRequest finish = FinishOf(lease);
  AddSteps(finish, kMaxCurveSteps, 1, 0.5);
  EXPECT_THAT(driver_->Call<v1::FinishReply>(finish),
              FailsWith(ErrorId::kFieldTooLarge));
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::FinishReply>(FinishOf(lease)));
  EXPECT_EQ(reply.verdict(), v1::FinishReply::ACCEPTED);
  EXPECT_EQ(reply.trial().state(), v1::TRIAL_STATE_SUCCEEDED);
}

TEST_F(CurvesTest, AfterARestartStepsAreCountedInTheStore) {
  const v1::Lease lease = Acquire();
  ReportUpTo(lease, kMaxCurveSteps - 1000);
  Restart();
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1000, 999));
  EXPECT_THAT(Report(lease, kMaxCurveSteps - 1, 2),
              FailsWith(ErrorId::kFieldTooLarge));
  Restart();
  EXPECT_THAT(Report(lease, kMaxCurveSteps - 1, 2),
              FailsWith(ErrorId::kFieldTooLarge));
  ASSERT_OK(Report(lease, kMaxCurveSteps - 1, 1));
  EXPECT_OK(driver_->Call<v1::FinishReply>(FinishOf(lease)));
}

TEST_F(CurvesTest, StepsMayHaveHighNumbersWhereThereAreFew) {
  const v1::Lease lease = Acquire();
  ASSERT_OK(Report(lease, 5 * kMaxCurveSteps, 10));
  Restart();
  ASSERT_OK(Report(lease, 6 * kMaxCurveSteps, 10));
  ASSERT_OK(Report(lease, 7 * kMaxCurveSteps, 10));
}

// The import is then what opens the study's search.
TEST_F(CurvesTest, AnImportedCurveIsComparedWithAfterARestartToo) {
  const v1::Lease lease = Acquire();
  Restart();
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(GoodTrial()));
  ASSERT_OK_AND_ASSIGN(const auto bad, Report(lease, 2, 1, 0.7));
  EXPECT_EQ(bad.directive().action(), v1::Directive::STOP_PRUNED);
}

TEST_F(CurvesTest, AnImportedCurveIsComparedWithAtOnce) {
  ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(GoodTrial()));
  ASSERT_OK_AND_ASSIGN(const auto bad, Report(Acquire(), 2, 1, 0.7));
  EXPECT_EQ(bad.directive().action(), v1::Directive::STOP_PRUNED);
  EXPECT_THAT(bad.directive().reason(), testing::HasSubstr("of 1 trials"));
}

TEST_F(CurvesTest, WhatComesWithAnEndIsComparedWithAtOnce) {
  v1::FinishRequest finish = FinishOf(Acquire());
  AddSteps(finish, 1, 3, 0.8);
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  ASSERT_OK_AND_ASSIGN(const auto bad, Report(Acquire(), 2, 1, 0.7));
  EXPECT_EQ(bad.directive().action(), v1::Directive::STOP_PRUNED);
}

// The search is open by then, and was read without curves.
TEST_F(CurvesTest, APrunerThatIsSwitchedOnComparesWithWhatWasBefore) {
  SetPruner(v1::PrunerSpec());
  v1::FinishRequest finish = FinishOf(Acquire());
  AddSteps(finish, 1, 3, 0.8);
  ASSERT_OK(driver_->Call<v1::FinishReply>(finish));
  Restart();
  const v1::Lease good = Acquire();
  const v1::Lease bad = Acquire();
  ASSERT_OK(Report(good, 1, 1, 0.9));
  ASSERT_OK(Report(bad, 1, 1, 0.7));
  SetPruner(Median());
  ASSERT_OK_AND_ASSIGN(const auto first, Report(good, 2, 1, 0.9));
  EXPECT_EQ(first.directive().action(), v1::Directive::CONTINUE);
  ASSERT_OK_AND_ASSIGN(const auto second, Report(bad, 2, 1, 0.7));
  EXPECT_EQ(second.directive().action(), v1::Directive::STOP_PRUNED);
  EXPECT_THAT(second.directive().reason(), testing::HasSubstr("of 1 trials"));
}

// The worker repeats what was stored, since an answer was lost, and another has
// the trial.
TEST_F(CurvesTest, ALateEndOfAFullCurveIsTaken) {
  const v1::Lease lease = Acquire();
  ReportUpTo(lease, kMaxCurveSteps - 1);
  ASSERT_OK(driver_->Register("w", "boot-2"));
  const v1::Lease next = driver_->AcquireOne("w", "boot-2");
  ASSERT_EQ(next.trial(), lease.trial());
  ASSERT_NE(next.attempt(), lease.attempt());
  v1::FinishRequest finish = FinishOf(lease);
  AddSteps(finish, kMaxCurveSteps - 3, 4, 0.5);
  EXPECT_THAT(driver_->Call<v1::FinishReply>(finish),
              FailsWith(ErrorId::kFieldTooLarge));
  finish.mutable_measurements()->RemoveLast();
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::FinishReply>(finish));
  EXPECT_EQ(reply.verdict(), v1::FinishReply::ACCEPTED);
}

// The thread that owns the state waits for no disk but that of its commits:
// what memory lacks is read on other threads, and the call runs again with it.

class LoopReadsTest : public CountingFixture {
 protected:
  void SetUp() override {
    CountingFixture::SetUp();
    ASSERT_OK(driver_->Register("w", "boot-1"));
    ended_ = driver_->AcquireOne("w", "boot-1");
    ASSERT_OK(driver_->Report(ended_, 1, 0.5));
    ASSERT_OK(driver_->Finish(ended_, 0.5));
    ASSERT_OK(driver_->GetStudy("a"));  // a later group: the end is stored
    store_->TakeReadsByWriter();
  }

  template <typename Request>
  static Request Named(const std::string& name) {
    Request request;
    if constexpr (requires { request.set_request_id(""); }) {
      request.set_request_id(RandomHexId());
    }
    request.set_name(name);
    return request;
  }

  v1::Lease ended_;
};

TEST_F(LoopReadsTest, WhatATrialThatHasEndedIsAskedOrTold) {
  const std::string name = ended_.trial();
  EXPECT_OK(driver_->Finish(ended_, 0.5));  // said again
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", ended_)->directives(0).action(),
            v1::Directive::LEASE_LOST);
  auto update = Named<v1::UpdateTrialRequest>(name);
  update.set_note("odd");
  update.mutable_update_mask()->add_paths("note");
  EXPECT_EQ(driver_->Call<v1::Trial>(update)->note(), "odd");
  EXPECT_THAT(driver_->Call<v1::Trial>(Named<v1::CancelTrialRequest>(name)),
              FailsWith(ErrorId::kTrialTerminal));
  EXPECT_OK(driver_->Call<v1::Trial>(Named<v1::RetryTrialRequest>(name)));
  auto from = Named<v1::RetryTrialRequest>(name);
  from.set_from_checkpoint(true);
  EXPECT_THAT(driver_->Call<v1::Trial>(from),
              FailsWith(ErrorId::kTrialNotFound));
  auto explain = Named<v1::ExplainStudyRequest>("studies/a");
  explain.set_trial_number(0);
  EXPECT_OK(driver_->Call<v1::ExplainStudyReply>(explain));
  EXPECT_OK(
      driver_->Call<v1::GetTrialLogReply>(Named<v1::GetTrialLogRequest>(name)));
  EXPECT_EQ(store_->TakeReadsByWriter(), 0);
}

TEST_F(LoopReadsTest, WhatIsSaidTwice) {
  const v1::Lease lease = driver_->AcquireOne("w", "boot-1");
  EXPECT_OK(driver_->Report(lease, 1, 0.5));
  EXPECT_OK(driver_->Report(lease, 3, 0.6));
  EXPECT_OK(driver_->Report(lease, 1, 0.5));
  EXPECT_THAT(driver_->Report(lease, 2, 0.5),
              FailsWith(ErrorId::kStepOutOfOrder));
  EXPECT_THAT(driver_->Report(lease, 3, 0.7),
              FailsWith(ErrorId::kReportConflict));
  auto pause = Named<v1::PauseStudyRequest>("studies/a");
  EXPECT_OK(driver_->Call<v1::Study>(pause));
  EXPECT_OK(driver_->Call<v1::Study>(pause));
  pause.set_reason("another");
  EXPECT_THAT(driver_->Call<v1::Study>(pause),
              FailsWith(ErrorId::kRequestIdReused));
  EXPECT_EQ(store_->TakeReadsByWriter(), 0);
}

TEST_F(LoopReadsTest, ListsAndANewStudyThatStartsFromAnother) {
  v1::CreateStudyRequest warm = ExampleStudy("b", 3);
  warm.mutable_spec()->mutable_sampler()->set_name("tpe");
  warm.mutable_spec()->add_warm_start()->set_study("studies/a");
  EXPECT_OK(driver_->Call<v1::CreateStudyReply>(warm));
  EXPECT_EQ(driver_->Call<v1::ListStudiesReply>(v1::ListStudiesRequest())
                ->studies_size(),
            2);
  EXPECT_EQ(driver_->Call<v1::ListWorkersReply>(v1::ListWorkersRequest())
                ->workers_size(),
            1);
  EXPECT_OK(driver_->Call<v1::ServerInfo>(v1::GetInfoRequest()));
  EXPECT_EQ(store_->TakeReadsByWriter(), 0);
}

}  // namespace
}  // namespace frostline::server

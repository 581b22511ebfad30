// SPDX-License-Identifier: Apache-2.0
//
// File: importance_fixture.h
//
// A study whose trials say what mattered: layer.1 much, layer.0 little, and
// nothing together. Imported, with a curve of three steps, a second metric, a
// usage, and pruned ones among them.
#ifndef FROSTLINE_TESTS_SERVER_IMPORTANCE_IMPORTANCE_FIXTURE_H_
#define FROSTLINE_TESTS_SERVER_IMPORTANCE_IMPORTANCE_FIXTURE_H_

#include <memory>
#include <string>

#include "base/ids.h"
#include "gtest/gtest.h"
#include "storage/factory.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {

class ImportanceFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = storage::OpenStore(
        storage::StoreSpec{.data_folder = "", .ephemeral = true});
    ASSERT_OK(store.status());
    store_ = std::make_unique<CountingStore>(*std::move(store));
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
    Create("a");
    Import("a", 0, 45);
  }

  // The space lists the head first, which is last in depth.
  void Create(const std::string& id, const std::string& constrained = "",
              const v1::Training& training = {}) {
    v1::CreateStudyRequest request = ExampleStudy(id, 20);
    request.mutable_spec()->mutable_training()->MergeFrom(training);
    if (!constrained.empty()) {
      request.mutable_spec()->set_allow_test_objective(true);
      request.mutable_spec()->add_constraints()->set_metric(constrained);
    }
    v1::ModuleSpace head = request.spec().space().modules(0);
    head.set_select("head");
    auto* const modules =
        request.mutable_spec()->mutable_space()->mutable_modules();
    *modules->Add() = head;
    modules->SwapElements(0, 1);
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request).status());
  }

  // Trials `from` … `to` - 1 of a fixed list; every fifth one was pruned at
  // step 2.
  void Import(const std::string& id, int from, int to) {
    v1::ImportTrialsRequest request;
    request.set_request_id(RandomHexId());
    request.set_name(StudyNameOf(id));
    for (int i = from; i < to; ++i) *request.add_trials() = TrialOf(i);
    ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(request).status());
  }

  static v1::ImportedTrial TrialOf(int i) {
    constexpr double kRates[] = {0.0, 1e-5, 1e-4};
    const int low = i % 3, high = i / 3 % 3, head = i * i / 2 % 3;
    const double score = 0.5 + 0.01 * low + 0.1 * high + 1e-4 * (i % 7);
    v1::ImportedTrial trial;
    auto& values = *trial.mutable_parameters();
    values["layer.0"].set_number_value(kRates[low]);
    values["layer.1"].set_number_value(kRates[high]);
    values["head"].set_number_value(kRates[head]);
    const bool pruned = i % 5 == 4;
    trial.set_state(pruned ? v1::TRIAL_STATE_PRUNED
                           : v1::TRIAL_STATE_SUCCEEDED);
    for (int step = 1; step <= (pruned ? 2 : 3); ++step) {
      v1::Measurement* const measured = trial.add_measurements();
      measured->set_step(step);
      // Half way it is layer.0 that counts.
      (*measured->mutable_metrics())["accuracy"] =
          step < 3 ? 0.1 * low + 1e-3 * (i % 4) : score;
    }
    if (!pruned) {
      (*trial.mutable_metrics())["accuracy"] = score;
      (*trial.mutable_metrics())["loss"] = 1.0 - 0.2 * low - 1e-3 * (i % 5);
    }
    trial.mutable_usage()->set_train_seconds(10.0 + 5.0 * low + 0.01 * (i % 3));
    trial.mutable_usage()->set_trained_parameters(1000 * (1 + head));
    (*trial.mutable_labels())["half"] = i % 2 == 0 ? "even" : "odd";
    return trial;
  }

  v1::GetReportRequest ReportRequest(const std::string& id = "a") const {
    v1::GetReportRequest request;
    request.set_study(StudyNameOf(id));
    request.mutable_options()->set_bootstraps(8);
    request.mutable_options()->set_trees(8);
    return request;
  }
  // The same numbers without their intervals and the stability verdict, which
  // are nearly all of the work: for tests that look at something else.
  v1::GetReportRequest PlainRequest(const std::string& id = "a") const {
    v1::GetReportRequest request = ReportRequest(id);
    request.mutable_options()->set_without_intervals(true);
    return request;
  }
  absl::StatusOr<v1::ImportanceReport> Ask(
      const v1::GetReportRequest& request) {
    return driver_->Call<v1::ImportanceReport>(request);
  }
  // The most important one.
  static std::string First(const v1::ImportanceReport& report) {
    for (const v1::ParameterImportance& row : report.parameters()) {
      if (row.rank() == 1) return row.parameter();
    }
    return "";
  }

  FakeClock clock_;
  std::unique_ptr<CountingStore> store_;
  std::unique_ptr<Driver> driver_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_IMPORTANCE_IMPORTANCE_FIXTURE_H_

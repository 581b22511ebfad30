// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"
#include "server/wire/study_checks.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/server/example_study.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

v1::StudySpec SpecOf(const std::string& metric) {
  v1::StudySpec spec;
  spec.add_objectives()->set_metric(metric);
  return spec;
}

v1::StudySpec SpecOf(double lo, double hi, double step) {
  v1::StudySpec spec;
  v1::FloatRange& range =
      *spec.mutable_space()->add_parameters()->mutable_float_();
  range.set_lo(lo);
  range.set_hi(hi);
  range.set_step(step);
  return spec;
}

// A metric that a study may ask for is one that a worker may bring.
TEST(NewStudy, AnObjectiveHasANameThatAMetricMayHave) {
  for (const std::size_t bytes : {1U, 255U, 256U, 257U, 4'096U, 100'000U}) {
    const std::string name(bytes, 'm');
    v1::Outcome outcome;
    outcome.set_kind(v1::Outcome::SUCCEEDED);
    (*outcome.mutable_metrics())[name] = 0.5;
    if (CheckOutcome(outcome).ok()) {
      EXPECT_OK(CheckNewStudy(SpecOf(name)));
      continue;
    }
    EXPECT_GT(bytes, 256u);
    EXPECT_THAT(CheckNewStudy(SpecOf(name)),
                FailsAt(ErrorId::kFieldTooLarge, "objectives[0].metric"));
  }
}

TEST(NewStudy, SoHasTheMetricThatStopsTrainingAndEverySet) {
  v1::StudySpec stops, sets;
  v1::Training& training = *stops.mutable_training();
  training.mutable_early_stopping()->set_metric(std::string(256, 'm'));
  EXPECT_OK(CheckNewStudy(stops));
  training.mutable_early_stopping()->set_metric(std::string(257, 'm'));
  EXPECT_THAT(CheckNewStudy(stops), FailsAt(ErrorId::kFieldTooLarge,
                                            "training.early_stopping.metric"));
  sets.mutable_training()->add_also_evaluate("imdb");
  sets.mutable_training()->add_also_evaluate(std::string(257, 's'));
  EXPECT_THAT(CheckNewStudy(sets),
              FailsAt(ErrorId::kFieldTooLarge, "training.also_evaluate[1]"));
}

TEST(NewStudy, ATrialCanEndWithEveryMetricThatIsAskedFor) {
  v1::StudySpec spec;
  for (int i = 0; i < kMaxFinalMetrics; ++i) {
    spec.add_objectives()->set_metric(absl::StrCat("m", i));
  }
  spec.add_constraints()->set_metric("m7");
  EXPECT_OK(CheckNewStudy(spec));
  spec.add_constraints()->set_metric("memory");
  EXPECT_THAT(CheckNewStudy(spec),
              FailsAt(ErrorId::kFieldTooLarge, "objectives"));
}

TEST(NewStudy, NeighboursOnAGridAreDifferentNumbers) {
  for (const auto& good :
       {SpecOf(0, 1, 0), SpecOf(0, 1, 0.1), SpecOf(0, 1, 1e-15),
        SpecOf(1e-300, 2e-300, 1e-301), SpecOf(-1e300, 1e300, 1e290)}) {
    EXPECT_OK(CheckNewStudy(good)) << good.DebugString();
  }
  for (const auto& bad :
       {SpecOf(0, 1, 5e-324), SpecOf(0, 1, 1e-300), SpecOf(0, 1, 1e-17),
        SpecOf(1e9, 1e9 + 1, 1e-9), SpecOf(-1e300, 0, 1)}) {
    EXPECT_THAT(CheckNewStudy(bad), FailsAt(ErrorId::kRangeInvalid,
                                            "space.parameters[0].float.step"))
        << bad.DebugString();
  }
  v1::StudySpec decay;
  v1::FloatRange& range = *decay.mutable_space()
                               ->mutable_layerwise_decay()
                               ->mutable_decay()
                               ->mutable_float_();
  range.set_hi(1);
  range.set_step(5e-324);
  EXPECT_THAT(CheckNewStudy(decay),
              FailsAt(ErrorId::kRangeInvalid,
                      "space.layerwise_decay.decay.float.step"));
}

TEST(NewStudy, LabelsOfAnEnqueuedTrialAreTold) {
  v1::StudySpec spec;
  auto& labels = *spec.add_enqueue()->mutable_labels();
  labels["prompt"] = std::string(64 * 1024 - 6, 'p');
  EXPECT_OK(CheckNewStudy(spec));
  labels["prompt"] += "p";
  EXPECT_THAT(CheckNewStudy(spec),
              FailsAt(ErrorId::kFieldTooLarge, "enqueue[0].labels"));
}

TEST(NewStudy, WhatATrainerIsToldIsJson) {
  v1::StudySpec spec;
  auto& fields = *spec.mutable_training()->mutable_extra()->mutable_fields();
  fields["deep"].mutable_list_value()->add_values()->set_number_value(1.5);
  EXPECT_OK(CheckNewStudy(spec));
  fields["deep"].mutable_list_value()->add_values()->set_number_value(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(CheckNewStudy(spec),
              FailsAt(ErrorId::kRequestInvalid, "training.extra.deep"));
}

// Each control character is six of JSON.
TEST(NewStudy, ATrialFitsIntoTheLineThatItsTrainerReads) {
  v1::StudySpec spec;
  v1::ParameterSpace& prompt = *spec.mutable_space()->add_parameters();
  prompt.mutable_choices()->add_values()->set_string_value("short");
  prompt.mutable_choices()->add_values()->set_string_value(
      std::string(70'000, '\x01'));
  EXPECT_OK(CheckNewStudy(spec));
  prompt.mutable_choices()->add_values()->set_string_value(
      std::string(100'000, '\x01'));
  EXPECT_THAT(CheckNewStudy(spec), FailsAt(ErrorId::kFieldTooLarge, "spec"));
}

// One that is stored already is read all the same.
TEST(NewStudy, IsAskedWhereAStudyIsMade) {
  const auto store = storage::OpenStore({.data_folder = "", .ephemeral = true});
  ASSERT_OK(store);
  const FakeClock clock;
  Driver driver(**store, clock);
  v1::CreateStudyRequest request = ExampleStudy("long", 8);
  request.mutable_spec()->mutable_objectives(0)->set_metric(
      std::string(257, 'm'));
  EXPECT_THAT(driver.Call<v1::CreateStudyReply>(request),
              FailsAt(ErrorId::kFieldTooLarge, "objectives[0].metric"));
  EXPECT_OK(CheckStudy(request.spec(), request.settings(), ExampleLease()));
}

}  // namespace
}  // namespace frostline::server

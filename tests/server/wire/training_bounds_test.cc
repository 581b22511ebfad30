// SPDX-License-Identifier: Apache-2.0
#include "server/wire/training_bounds.h"

#include "base/plain/training_table.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

TEST(TrainingBounds, WhatIsNotGivenIsNotJudged) {
  EXPECT_OK(CheckTrainingBounds({}));
}

TEST(TrainingBounds, WhatCanBeTrainedWithPasses) {
  v1::StudySpec spec;
  spec.mutable_training()->set_epochs(100'000);
  spec.mutable_training()->set_label_smoothing(0.999);
  spec.mutable_training()->mutable_lora()->set_rank(65'536);
  spec.mutable_freeze()->set_virtual_tau(1.0);
  EXPECT_OK(CheckTrainingBounds(spec));
}

TEST(TrainingBounds, ANumberOutOfRangeNamesItsField) {
  v1::StudySpec smooth, deep, impatient, stiff;
  smooth.mutable_training()->set_label_smoothing(1.5);
  deep.mutable_training()->mutable_lora()->set_rank(1 << 20);
  impatient.mutable_training()->mutable_early_stopping()->set_patience(-1);
  stiff.mutable_freeze()->set_virtual_tau(2.0);

  EXPECT_THAT(CheckTrainingBounds(smooth),
              FailsAt(ErrorId::kRequestInvalid, "training.label_smoothing"));
  EXPECT_THAT(CheckTrainingBounds(deep),
              FailsAt(ErrorId::kRequestInvalid, "training.lora.rank"));
  EXPECT_THAT(
      CheckTrainingBounds(impatient),
      FailsAt(ErrorId::kRequestInvalid, "training.early_stopping.patience"));
  EXPECT_THAT(CheckTrainingBounds(stiff),
              FailsAt(ErrorId::kRequestInvalid, "freeze.virtual_tau"));
}

TEST(TrainingBounds, ADataSetCalledTestWouldTakeTheTestSplitsMetrics) {
  v1::StudySpec spec;
  spec.mutable_training()->add_also_evaluate("tests");
  EXPECT_OK(CheckTrainingBounds(spec));
  spec.mutable_training()->add_also_evaluate("test");
  EXPECT_THAT(CheckTrainingBounds(spec),
              FailsAt(ErrorId::kRequestInvalid, "training.also_evaluate"));
}

// The table speaks of what the contract has, by the same names.
TEST(TrainingBounds, EveryRowButThoseOfExtraIsAFieldOfTheContract) {
  for (const SettingRow& row : TrainingTable()) {
    const google::protobuf::Descriptor* type = v1::Training::descriptor();
    if (row.block() == "lora.") type = v1::LoraSpec::descriptor();
    if (row.block() == "early_stopping.")
      type = v1::EarlyStopping::descriptor();
    if (row.block() == "freeze.") type = v1::FreezeSemantics::descriptor();
    if (row.block() == "extra.") continue;
    EXPECT_NE(type->FindFieldByName(std::string(row.name())), nullptr)
        << row.key;
  }
}

}  // namespace
}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/message.h>

#include "absl/strings/ascii.h"
#include "base/plain/training_table.h"
#include "gmock/gmock.h"
#include "server/wire/training_bounds.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

// Writes a word where a study has it: "optimizer", "head.kind", "freeze.mode".
v1::StudySpec SpecWith(const SettingRow& row, const std::string& word) {
  v1::StudySpec spec;
  google::protobuf::Message* message = spec.mutable_training();
  if (row.block() == "freeze.") message = spec.mutable_freeze();
  const auto field_of = [&](std::string_view name) {
    return message->GetDescriptor()->FindFieldByName(std::string(name));
  };
  if (!row.block().empty() && row.block() != "freeze.") {
    const std::string_view block = row.block();
    message = message->GetReflection()->MutableMessage(
        message, field_of(block.substr(0, block.size() - 1)));
  }
  const auto* const field = field_of(row.name());
  if (field->enum_type() == nullptr) {
    message->GetReflection()->SetString(message, field, word);
    return spec;
  }
  const auto* const value =
      field->enum_type()->FindValueByName(absl::AsciiStrToUpper(word));
  message->GetReflection()->SetEnumValue(
      message, field, value == nullptr ? 77 : value->number());
  return spec;
}

std::string FieldOf(const SettingRow& row) {
  return (row.block() == "freeze." ? "" : "training.") + std::string(row.key);
}

TEST(TrainingBounds, AWordIsOneOfItsRow) {
  int rows = 0;
  for (const SettingRow& row : TrainingTable()) {
    if (row.kind != SettingKind::kWord || row.block() == "extra.") continue;
    ++rows;
    for (const std::string_view word : WordsOf(row)) {
      EXPECT_OK(CheckTrainingBounds(SpecWith(row, std::string(word))));
    }
    const absl::Status status = CheckTrainingBounds(SpecWith(row, "xylophone"));
    EXPECT_THAT(status, FailsAt(ErrorId::kRequestInvalid, FieldOf(row)));
    EXPECT_THAT(DescribeError(status),
                HasSubstr("write one of " + std::string(row.words)));
  }
  EXPECT_GE(rows, 14);
}

TEST(TrainingBounds, OfAMisspeltWordTheNearestIsNamed) {
  const absl::Status status =
      CheckTrainingBounds(SpecWith(SettingOf("optimizer"), "adamx"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("training.optimizer is 'adamx'"),
                    HasSubstr("did you mean 'adamw'? write one of adamw, adam, "
                              "sgd")));
}

TEST(TrainingBounds, EachTasksHeadIsJudgedToo) {
  v1::StudySpec spec;
  spec.add_tasks();
  spec.add_tasks()->mutable_head()->set_pooling("middle");
  EXPECT_THAT(CheckTrainingBounds(spec),
              FailsAt(ErrorId::kRequestInvalid, "tasks[1].head.pooling"));
}

// The table speaks of what the contract has, by the same names.
TEST(TrainingBounds, EveryRowButThoseOfExtraIsAFieldOfTheContract) {
  for (const SettingRow& row : TrainingTable()) {
    const google::protobuf::Descriptor* type = v1::Training::descriptor();
    if (row.block() == "lora.") type = v1::LoraSpec::descriptor();
    if (row.block() == "adapters.") type = v1::AdapterSpec::descriptor();
    if (row.block() == "smart.") type = v1::SmartSpec::descriptor();
    if (row.block() == "early_stopping.")
      type = v1::EarlyStopping::descriptor();
    if (row.block() == "head.") type = v1::HeadSpec::descriptor();
    if (row.block() == "freeze.") type = v1::FreezeSemantics::descriptor();
    if (row.block() == "extra.") continue;
    EXPECT_NE(type->FindFieldByName(std::string(row.name())), nullptr)
        << row.key;
  }
}

}  // namespace
}  // namespace frostline::server

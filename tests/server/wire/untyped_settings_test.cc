// SPDX-License-Identifier: Apache-2.0
#include "server/wire/untyped_settings.h"

#include <google/protobuf/util/json_util.h>

#include "gmock/gmock.h"
#include "server/wire/training_bounds.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// `extra` as JSON, of a study that names a model.
absl::Status CheckExtra(const std::string& extra) {
  v1::StudySpec spec;
  spec.mutable_model()->set_id("minilm");
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  extra, spec.mutable_training()->mutable_extra())
                  .ok());
  return CheckTrainingBounds(spec);
}

v1::StudySpec Searching(const std::string& parameter) {
  v1::StudySpec spec;
  spec.mutable_model()->set_id("minilm");
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  parameter, spec.mutable_space()->add_parameters())
                  .ok());
  return spec;
}

absl::Status CheckSearched(const std::string& parameter) {
  return CheckTrainingBounds(Searching(parameter));
}

TEST(ExtraSettings, WhatTheTrainerTakesPasses) {
  for (const char* const extra : {
           R"({"head": "cosine", "pooling": "mean", "scale": 5})",
           R"({"batches": "by_chance", "momentum": 0.9, "dropout": 0})",
           R"({"class_weights": "balanced"})",
           R"({"class_weights": [1, 2.5]})",
           R"({"no_decay": ["bias", "LayerNorm.weight"]})",
           R"({"export": "all"})",
           R"({"export": true})",
           R"({"head": null, "pooling": ""})",
       }) {
    EXPECT_OK(CheckExtra(extra)) << extra;
  }
}

TEST(ExtraSettings, WhatItDoesNotTakeNamesItsField) {
  const std::pair<const char*, const char*> kWrong[] = {
      {R"({"head": "cosin"})", "training.extra.head"},
      {R"({"pooling": "max"})", "training.extra.pooling"},
      {R"({"batches": 3})", "training.extra.batches"},
      {R"({"class_weights": "even"})", "training.extra.class_weights"},
      {R"({"class_weights": [1, 0]})", "training.extra.class_weights"},
      {R"({"class_weights": 2})", "training.extra.class_weights"},
      {R"({"export": "last"})", "training.extra.export"},
      {R"({"no_decay": "bias"})", "training.extra.no_decay"},
      {R"({"momentum": 1})", "training.extra.momentum"},
      {R"({"epsilon": 0})", "training.extra.epsilon"},
      {R"({"scale": "5"})", "training.extra.scale"},
  };
  for (const auto& [extra, field] : kWrong) {
    EXPECT_THAT(CheckExtra(extra), FailsAt(ErrorId::kRequestInvalid, field));
  }
  EXPECT_THAT(DescribeError(CheckExtra(R"({"head": "cosin"})")),
              AllOf(HasSubstr("did you mean 'cosine'? write one of joint, "
                              "cosine; for a trainer of your own call it")));
}

TEST(SearchedSettings, ValuesThatTheTrainerTakesPass) {
  for (const char* const parameter : {
           R"({"name": "optimizer", "choices": ["adamw", "sgd"]})",
           R"({"name": "batch_size", "int": {"lo": 8, "hi": 64, "log": true}})",
           R"({"name": "batch_size", "float": {"lo": 8, "hi": 64, "step": 8}})",
           R"({"name": "epochs", "choices": [1, 2, 4]})",
           R"({"name": "epochs", "levels": {"rates": [1, 2]}})",
           R"({"name": "weight_decay", "logUniform":
               {"lo": 1e-6, "hi": 0.1, "freeze": true}})",
           R"({"name": "seed", "int": {"lo": 1, "hi": 5}})",
           R"({"name": "colour", "choices": ["red", "blue"]})",
       }) {
    EXPECT_OK(CheckSearched(parameter)) << parameter;
  }
}

TEST(SearchedSettings, ValuesThatNoTrialCouldTrainWithNameTheirField) {
  const std::pair<const char*, const char*> kWrong[] = {
      {R"({"name": "optimizer", "choices": ["adam", "adamx"]})",
       "space.parameters[0].choices[1]"},
      {R"({"name": "schedule", "int": {"lo": 0, "hi": 2}})",
       "space.parameters[0]"},
      {R"({"name": "batch_size", "int": {"lo": 0, "hi": 64}})",
       "space.parameters[0].int.lo"},
      {R"({"name": "batch_size", "float": {"lo": 8, "hi": 64}})",
       "space.parameters[0]"},
      {R"({"name": "epochs", "choices": [1, "2"]})",
       "space.parameters[0].choices[1]"},
      {R"({"name": "epochs", "levels": {"rates": [1, 2.5]}})",
       "space.parameters[0].levels.rates[1]"},
      {R"({"name": "dropout", "float": {"lo": 0, "hi": 1}})",
       "space.parameters[0].float.hi"},
      {R"({"name": "epsilon", "logUniform":
           {"lo": 1e-9, "hi": 1e-6, "freeze": true}})",
       "space.parameters[0].log_uniform.freeze"},
      {R"({"name": "seed", "int": {"lo": -1, "hi": 5}})",
       "space.parameters[0].int.lo"},
  };
  for (const auto& [parameter, field] : kWrong) {
    EXPECT_THAT(CheckSearched(parameter),
                FailsAt(ErrorId::kRequestInvalid, field));
  }
}

TEST(SearchedSettings, AStudyWithoutAModelIsForAnotherTrainer) {
  v1::StudySpec spec =
      Searching(R"({"name": "optimizer", "choices": ["lamb", "lion"]})");
  EXPECT_THAT(
      CheckUntypedSettings(spec),
      FailsAt(ErrorId::kRequestInvalid, "space.parameters[0].choices[0]"));
  spec.clear_model();
  EXPECT_OK(CheckUntypedSettings(spec));
}

}  // namespace
}  // namespace frostline::server

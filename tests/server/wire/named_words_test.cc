// SPDX-License-Identifier: Apache-2.0
#include "server/wire/named_words.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/plain/training_table.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(NamedWords, WhatTheTrainerTakesPasses) {
  v1::StudySpec spec;
  for (const LoraWord& each : LoraWords()) {
    spec.mutable_training()->mutable_lora()->add_modules(
        std::string(each.word));
  }
  for (const char* kind :
       {"classification", "regression", "tagging", "pair", ""}) {
    spec.mutable_data()->set_task(kind);
    EXPECT_OK(CheckNamedWords(spec));
  }
}

TEST(NamedWords, AMapThatNoFamilyHasIsNamedWithTheNearest) {
  v1::StudySpec spec;
  v1::LoraSpec& lora = *spec.mutable_training()->mutable_lora();
  lora.add_modules("query");
  lora.add_modules("vlaue");
  const absl::Status status = CheckNamedWords(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.lora.modules[1]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("names 'vlaue', which is no map of a layer"),
                    HasSubstr("did you mean 'value'? name some of query, key"),
                    HasSubstr("q_lin")));
}

TEST(NamedWords, AKindOfTaskIsOneThatThereIs) {
  v1::StudySpec one, two;
  one.mutable_data()->set_task("clasification");
  two.add_tasks()->mutable_data()->set_task("tagging");
  two.add_tasks()->mutable_data()->set_task("ranking");
  const absl::Status status = CheckNamedWords(one);
  EXPECT_THAT(status, FailsAt(ErrorId::kRequestInvalid, "data.task"));
  EXPECT_THAT(DescribeError(status),
              HasSubstr("did you mean 'classification'? write one of "
                        "classification, regression, tagging, pair"));
  EXPECT_THAT(CheckNamedWords(two),
              FailsAt(ErrorId::kRequestInvalid, "tasks[1].data.task"));
}

TEST(NamedWords, ATaskFreezesNoSingleAttentionHeads) {
  for (const char* selector : {"layer.0.head.3", "layer.*.head.*"}) {
    v1::StudySpec spec;
    v1::TaskSpec& task = *spec.add_tasks();
    for (const char* whole : {"layer.1.attention", "head.sst", "head"}) {
      task.add_freeze(whole);
    }
    EXPECT_OK(CheckNamedWords(spec));
    task.add_freeze(selector);
    EXPECT_THAT(CheckNamedWords(spec),
                FailsAt(ErrorId::kRequestInvalid, "tasks[0].freeze[3]"));
  }
}

TEST(NamedWords, SixteenFurtherSetsAreTheMost) {
  v1::StudySpec spec;
  for (int i = 0; i < 16; ++i) {
    spec.mutable_training()->add_also_evaluate(absl::StrCat("set", i));
  }
  EXPECT_OK(CheckNamedWords(spec));
  spec.mutable_training()->add_also_evaluate("one_more");
  const absl::Status status = CheckNamedWords(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.also_evaluate"));
  EXPECT_THAT(DescribeError(status), HasSubstr("name at most 16"));
}

TEST(NamedWords, AWarmUpIsAShareOrANumberOfSteps) {
  v1::StudySpec spec;
  spec.mutable_training()->set_warmup_share(0.1);
  EXPECT_OK(CheckNamedWords(spec));
  spec.mutable_training()->set_warmup_steps(100);
  EXPECT_THAT(CheckNamedWords(spec),
              FailsAt(ErrorId::kRequestInvalid, "training.warmup_share"));
}

}  // namespace
}  // namespace frostline::server

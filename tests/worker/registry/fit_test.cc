// SPDX-License-Identifier: Apache-2.0
//
// A study that no trial could do is known before there is one.
#include "worker/registry/fit.h"

#include "tests/worker/registry/registry_fixture.h"
#include "worker/registry/lengths.h"

namespace frostline::registry {
namespace {

using ::testing::HasSubstr;

class FitTest : public RegistryTest {
 protected:
  FitTest() {
    EXPECT_OK(AddText("a.csv", "text,label\nw1 w2,x\nw3,y\n").status());
    EXPECT_OK(AddModel(registry(), {WriteModel("m"), ""}).status());
    needs_.model = "m";
    needs_.layers = 3;
    needs_.data = "a";
    needs_.metrics = {"accuracy"};
  }
  absl::Status Check(bool trains = true) const {
    return CheckFit(ReadRegistry(registry()).value(), needs_, trains);
  }

  StudyNeeds needs_;
};

TEST_F(FitTest, WhatFitsPasses) { EXPECT_OK(Check()); }

TEST_F(FitTest, EachMisfitNamesItsField) {
  const StudyNeeds right = needs_;
  const auto expect = [&](const char* field, const char* cause) {
    const absl::Status status = Check();
    EXPECT_FALSE(status.ok()) << field;
    if (status.ok()) return;
    EXPECT_EQ(DetailOf(status)->field, field);
    EXPECT_THAT(CauseOf(status) + " " + FixOf(status), HasSubstr(cause));
    needs_ = right;
  };
  needs_.layers = 12;
  expect("model.layers", "m has 12 layers; it has 3");
  needs_.heads = 5;
  expect("model.heads", "write heads: 4");
  needs_.model = "n";
  expect("model.id", "did you mean 'm'?");
  needs_.model_sha256 = std::string(64, 'a');
  expect("model.sha256", "of the SHA-256 aaaa");
  needs_.data = "imdb";
  expect("data.id", "has no data set 'imdb'");
  needs_.columns = {{"text", "title"}};
  expect("data.columns", "no column 'title'");
  needs_.columns = {{"texts", "text"}};
  expect("data.columns", "no role 'texts'");
  needs_.validation_split = "dev";
  expect("data", "has no split 'dev'");
  needs_.data_sha256 = std::string(64, 'a');
  expect("data.sha256", "data set 'a' of the SHA-256 aaaa");
  needs_.metrics = {"loss", "acuracy"};
  expect("objectives[1].metric", "did you mean 'accuracy'?");
  needs_.stopping_metric = "f2";
  expect("training.early_stopping.metric", "did you mean 'f1'?");
  needs_.also_evaluate = {"sst2"};
  expect("training.also_evaluate", "no data set 'sst2'");
}

TEST_F(FitTest, AnotherTrainerHasMetricsOfItsOwn) {
  needs_.metrics = {"bleu"};
  EXPECT_FALSE(Check().ok());
  EXPECT_OK(Check(/*trains=*/false));
}

TEST_F(FitTest, OtherSetsHaveMetricsToo) {
  ASSERT_OK(AddText("b.csv", "text,label\nw1 w2,x\nw3,y\n").status());
  needs_.also_evaluate = {"b"};
  needs_.metrics = {"b.accuracy", "train_seconds"};
  EXPECT_OK(Check());
}

TEST(NearestMetric, IsNoneOfAMetricThatIsOne) {
  EXPECT_EQ(NearestMetric("acuracy"), "accuracy");
  EXPECT_EQ(NearestMetric("accuracy"), "");
  EXPECT_EQ(NearestMetric("bleu"), "");
}

TEST_F(FitTest, TextsAreCountedInTokens) {
  ASSERT_OK_AND_ASSIGN(const Registry read, ReadRegistry(registry()));
  const auto tokens = LongTextTokens(read, "m", "a");
  ASSERT_OK(tokens.status());
  EXPECT_EQ(*tokens, 3);  // of the shorter: 95 % of one row
}

}  // namespace
}  // namespace frostline::registry

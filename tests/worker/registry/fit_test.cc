// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/fit.h"

#include "absl/strings/str_cat.h"
#include "tests/worker/registry/registry_fixture.h"
#include "worker/registry/check.h"

namespace frostline::registry {
namespace {

// A study that no trial could do is known before there is one.

class BoundaryNeedsTest : public RegistryTest {
 protected:
  BoundaryNeedsTest() {
    NewDataSet set;
    set.path = Write("a.csv", Rows(40));
    set.validation = Write("v.csv", Rows(5));
    EXPECT_OK(Add(set).status());
    EXPECT_OK(AddText("b.csv", Rows(20)).status());
    EXPECT_OK(AddModel(registry(), {WriteModel("m"), ""}).status());
    use_.study.model = "m";
    use_.study.data = "a";
  }
  static std::string Rows(int count) {
    std::string text = "text,label\n";
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&text, "w", i, " w1,", i % 2 == 0 ? "x" : "y", "\n");
    }
    return text;
  }
  BoundaryNeeds Needs() const {
    return BoundaryNeedsOf(ReadRegistry(registry()).value(), use_).value();
  }

  BoundaryUse use_;
};

TEST_F(BoundaryNeedsTest, ABoundaryIsTokensTimesNumbersForEveryText) {
  use_.max_length = 8;
  const BoundaryNeeds needs = Needs();
  EXPECT_EQ(needs.texts, 45);
  EXPECT_EQ(needs.layers, 3);
  EXPECT_GT(needs.hidden, 0);
  EXPECT_EQ(needs.BytesAt(2), 45 * 8 * needs.hidden * 4);
  EXPECT_EQ(needs.BytesAt(3), 45 * needs.hidden * 4);  // the first token
  use_.reads_apart = use_.reads_all = true;
  EXPECT_EQ(Needs().BytesAt(3), 90 * 8 * needs.hidden * 4);
  use_.number_bytes = 2;
  EXPECT_EQ(Needs().BytesAt(3), 90 * 8 * needs.hidden * 2);
}

TEST_F(BoundaryNeedsTest, NoTextIsLongerThanTheStudyOrTheModelLets) {
  use_.max_length = 0;
  const std::int64_t usual = Needs().tokens;
  EXPECT_LE(usual, 128);
  use_.max_length = 1'000'000;
  EXPECT_GE(Needs().tokens, usual);
  EXPECT_LT(Needs().tokens, 1'000'000);
}

TEST_F(BoundaryNeedsTest, WhatIsSampledOrHeldOutOrOnlyEvaluatedCountsSo) {
  use_.train_rows = 10;
  EXPECT_EQ(Needs().texts, 15);
  use_.evaluates_only = true;
  EXPECT_EQ(Needs().texts, 5);
  use_.study.also_evaluate = {"b"};
  EXPECT_EQ(Needs().texts, 5);  // it has neither test nor validation
  use_.study.also_evaluate.clear();
  use_.study.data = "b";
  EXPECT_EQ(Needs().texts, 2);
  use_.evaluates_only = false;
  use_.train_rows = 0;
  EXPECT_EQ(Needs().texts, 20);
  use_.train_share = 0.5;
  use_.validation_share = 0.2;
  EXPECT_EQ(Needs().texts, 4 + 8);
}

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

TEST_F(FitTest, TheFirstRowMayLackItsLabel) {
  NewDataSet set;
  set.path = Write("lacks.jsonl",
                   "{\"text\": \"w1\"}\n{\"text\": \"w1 w2\", \"label\": "
                   "\"x\"}\n{\"text\": \"w3\", \"label\": \"y\"}\n");
  set.skip_unlabelled = true;
  ASSERT_OK(Add(set).status());
  needs_.data = "lacks";
  EXPECT_OK(Check());
}

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

// What is wrong with a registry is found before a trainer finds it.

class CheckTest : public RegistryTest {
 protected:
  CheckTest() {
    EXPECT_OK(AddText("a.csv", "text,label\nsome,x\nmore,y\n").status());
    EXPECT_OK(AddModel(registry(), {WriteModel("m"), ""}).status());
  }
  Registry Read() const { return ReadRegistry(registry()).value(); }
};

TEST_F(CheckTest, AMalformedFileNamesItsLine) {
  struct {
    const char* file;
    const char* text;
    const char* cause;
  } const cases[] = {
      {"models.yaml", "m:\n\tpath: m\n", "models.yaml line 2"},
      {"models.yaml", "m:\n  path: m\n  size: 3\n", "unknown key 'size'"},
      {"models.yaml", "m:\n  path: m\n  sha256: 12\n", "64 lower-case hex"},
      {"models.yaml", "", "is empty"},
      {"datasets.yaml", "A:\n  splits:\n    train: {path: a, sha256: b}\n",
       "'A' is no id"},
      {"datasets.yaml",
       "a:\n  task: tag\n  splits:\n    train: {path: a, sha256: b}\n",
       "task 'tag' is unknown"},
      {"datasets.yaml", "a: [b]\n", "is no block of keys"},
  };
  for (const auto& c : cases) {
    const std::string path = std::string("registry/") + c.file;
    const std::string before = Text(path);
    Write(path, c.text);
    const auto read = ReadRegistry(registry());
    EXPECT_THAT(read, FailsWith(ErrorId::kTrainerSyntax)) << c.text;
    EXPECT_THAT(CauseOf(read.status()), HasSubstr(c.cause)) << c.text;
    EXPECT_THAT(CauseOf(read.status()), HasSubstr(folder_.File(path)));
    Write(path, before);
  }
}

TEST_F(CheckTest, AnotherSumIsToldForEitherKind) {
  ASSERT_OK(CheckModel(Read(), "m").status());
  ASSERT_OK(CheckDataSet(Read(), "a").status());
  Write("registry/data/a/train.csv", "text,label\nother,x\nmore,y\n");
  EXPECT_THAT(CauseOf(CheckDataSet(Read(), "a").status()),
              HasSubstr("data/a/train.csv: its SHA-256 is "));
  std::filesystem::remove(folder_.File("registry/models/m/model.safetensors"));
  Write("registry/models/m/model.safetensors", "x");
  EXPECT_THAT(CauseOf(CheckModel(Read(), "m").status()),
              HasSubstr("model.safetensors: its SHA-256 is "));
}

TEST_F(CheckTest, AColumnThatIsNotThereIsNamed) {
  std::string yaml = Text("registry/datasets.yaml");
  yaml.replace(yaml.find("\"label\""), 7, "\"lable\"");
  Write("registry/datasets.yaml", yaml);
  EXPECT_THAT(CauseOf(CheckDataSet(Read(), "a").status()),
              HasSubstr("has no column 'lable'"));
}

TEST_F(CheckTest, AnEntryThatIsNotThereIsNamed) {
  EXPECT_THAT(CheckModel(Read(), "n"), FailsWith(ErrorId::kTrainerFile));
  EXPECT_THAT(CheckDataSet(Read(), "n"), FailsWith(ErrorId::kTrainerFile));
}

TEST_F(CheckTest, ManyRowsAreCounted) {
  std::string text = "text,label\n";
  for (int i = 0; i < 5000; ++i) {
    text += "word " + std::to_string(i) + "," + std::to_string(i % 3) + "\n";
  }
  ASSERT_OK_AND_ASSIGN(const AddedDataSet added, AddText("many.csv", text));
  EXPECT_EQ(added.facts.splits[0].rows, 5000);
  EXPECT_EQ(added.facts.classes[0].second, 1667);
}

}  // namespace
}  // namespace frostline::registry

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/load.h"

#include <algorithm>
#include <map>

#include "base/plain/training_table.h"
#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/registry.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoadTest : public ::testing::Test {
 protected:
  // A split of the registry, with its file.
  std::string Split(const std::string& name, const std::string& bytes,
                    const std::string& more = "") {
    const std::string path = folder_.Write("sets/" + name, bytes);
    const std::string sum = InputFile::Open(path).value().Sha256().value();
    return "    " + name + ": {path: sets/" + name + ", sha256: " + sum + more +
           "}\n";
  }
  DataLoader Loader(const std::string& yaml) {
    return DataLoader(ParseDatasets(yaml, "datasets.yaml").value(),
                      VerifiedFiles(folder_.Root()));
  }
  // 40 rows, half of them of each label.
  static std::string Reviews(const std::string& word) {
    std::string bytes = "text\tlabel\n";
    for (int i = 0; i < 40; ++i) {
      bytes += word + std::to_string(i) + "\t" + (i % 2 ? "pos" : "neg") + "\n";
    }
    return bytes;
  }

  DataFolder folder_;
};

TEST_F(LoadTest, LoadsTheSplitsOfASet) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")) +
                             Split("validation", "text\tlabel\nx\tpos\n"));
  const TaskData data = loader.Load({.id = "s"}).value();
  EXPECT_EQ(data.task, TaskName{TaskKind::kClassification});
  EXPECT_EQ(data.train.size(), 40U);
  EXPECT_EQ(data.validation.size(), 1U);
  EXPECT_THAT(data.labels.names(), ElementsAre("neg", "pos"));
  EXPECT_EQ((*data.validation.data)[0].label, 1);
  EXPECT_NE(data.train.fingerprint, data.validation.fingerprint);
}

TEST_F(LoadTest, OpensAnOperatorsFolder) {
  const std::string folder = folder_.path().string();
  EXPECT_THAT(FaultOf(DataLoader::Open(folder)),
              IsFault(FaultKind::kUnreadable, "datasets.yaml"));
  EXPECT_THAT(FaultOf(DataLoader::Open(folder + "/none")),
              IsFault(FaultKind::kUnreadable, "/none"));
  folder_.Write("datasets.yaml",
                "s:\n  splits:\n" + Split("train", Reviews("a")));
  Expected<DataLoader> loader = DataLoader::Open(folder);
  EXPECT_EQ(loader.value().Load({.id = "s"}).value().train.size(), 36U);
  folder_.Write("datasets.yaml", "s:\n  split: x\n");
  EXPECT_THAT(FaultOf(DataLoader::Open(folder)),
              IsFault(FaultKind::kInconsistent, "datasets.yaml line"));
}

TEST_F(LoadTest, HoldsRowsOutWhereThereIsNoValidationSplit) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")));
  const TaskData data = loader.Load({.id = "s"}).value();
  EXPECT_EQ(data.train.size(), 36U);
  EXPECT_EQ(data.validation.size(), 4U);
  EXPECT_EQ(data.train.data, data.validation.data);  // one copy in memory
  const TaskData more =
      loader.Load({.id = "s", .validation_share = 0.25, .split_seed = 2})
          .value();
  EXPECT_EQ(more.validation.size(), 10U);
}

TEST_F(LoadTest, TheSampleLeavesValidationAlone) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")));
  const TaskData all = loader.Load({.id = "s"}).value();
  const TaskData some = loader.Load({.id = "s", .train_rows = 6}).value();
  EXPECT_EQ(some.train.size(), 6U);
  EXPECT_EQ(some.validation.fingerprint, all.validation.fingerprint);
  for (const auto row : some.train.rows) {
    EXPECT_FALSE(std::binary_search(some.validation.rows.begin(),
                                    some.validation.rows.end(), row));
  }
  const TaskData share = loader.Load({.id = "s", .train_share = 0.25}).value();
  EXPECT_EQ(share.train.size(), 9U);
}

TEST_F(LoadTest, AllLabelsStayKnownInASample) {
  std::string bytes = Reviews("a") + "rare\tzzz\n";
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", bytes) +
                             Split("validation", "text\tlabel\nx\tzzz\n"));
  const TaskData data = loader.Load({.id = "s", .train_rows = 2}).value();
  EXPECT_EQ(data.labels.size(), 3U);
}

TEST_F(LoadTest, AStudysColumnsGoBeforeTheRegistrys) {
  DataLoader loader = Loader("s:\n  columns: {text: a}\n  splits:\n" +
                             Split("train", "a\tb\tlabel\nx\ty\t1\nx\ty\t0\n") +
                             Split("validation", "a\tb\tlabel\nx\ty\t1\n"));
  const DataRequest request{.id = "s", .columns = {{"text", "b"}}};
  EXPECT_EQ((*loader.Load(request).value().train.data)[0].text, "y");
  EXPECT_EQ((*loader.Load({.id = "s"}).value().train.data)[0].text, "x");
}

TEST_F(LoadTest, ConlluIsTagging) {
  const std::string word = "1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
  DataLoader loader = Loader("s:\n  format: conllu\n  splits:\n" +
                             Split("train", word) + Split("dev", word));
  const TaskData data =
      loader.Load({.id = "s", .validation_split = "dev"}).value();
  EXPECT_EQ(data.task.kind, TaskKind::kTagging);
  EXPECT_THAT(data.train.data->words(0), ElementsAre("Go"));
}

TEST_F(LoadTest, TestsMayLackLabels) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")) +
                             Split("test", "text\nx\n", ", labelled: false"));
  const TaskData data = loader.Load({.id = "s"}).value();
  const DataPart test = loader.LoadTest({.id = "s"}, data.labels).value();
  EXPECT_FALSE(test.data->labelled());
  EXPECT_THAT(FaultOf(loader.Load({.id = "s", .validation_split = "test"})),
              IsFault(FaultKind::kMisuse, "not both labelled"));
}

TEST_F(LoadTest, OtherSetsAreReadWithTheLabelsOfTraining) {
  DataLoader loader =
      Loader("s:\n  splits:\n" + Split("train", Reviews("a")) +
             "o:\n  splits:\n" + Split("validation", "text\tlabel\nx\tpos\n"));
  const TaskData data = loader.Load({.id = "s"}).value();
  const DataPart other =
      loader.LoadOther("o", {.id = "s"}, data.task, data.labels).value();
  EXPECT_EQ((*other.data)[0].label, 1);
}

// Train on 0 and 1, evaluate on neg and pos, three classes to two.
TEST_F(LoadTest, SetsWithOtherLabelNamesMeet) {
  DataLoader loader =
      Loader("s:\n  splits:\n" +
             Split("train", "text\tlabel\na\t0\nb\t1\nc\t0\nd\t1\n") +
             Split("validation", "text\tlabel\nx\t1\n") +
             "o:\n  label_map: {bad: neg}\n  lowercase: true\n  splits:\n" +
             Split("test", "text\tlabel\nX\tbad\ny\tneutral\nz\tpos\n"));
  const DataRequest request{
      .id = "s",
      .rules = {.names = {{"0", "neg"}, {"1", "pos"}}, .dropped = {"neutral"}}};
  const TaskData data = loader.Load(request).value();
  EXPECT_THAT(data.labels.names(), ElementsAre("neg", "pos"));
  const DataPart other =
      loader.LoadOther("o", request, data.task, data.labels).value();
  ASSERT_EQ(other.size(), 2U);
  EXPECT_EQ((*other.data)[0].text, "x");
  EXPECT_EQ((*other.data)[0].label, 0);
  EXPECT_EQ((*other.data)[1].label, 1);
  EXPECT_THAT(LabelsWithoutRows(data.validation, data.labels),
              ElementsAre("neg"));
}

TEST_F(LoadTest, DeclaredLabelsAreMergedToo) {
  DataLoader loader =
      Loader("s:\n  labels: [good, fair, bad]\n  splits:\n" +
             Split("train", "text\tlabel\na\tgood\nb\tfair\nc\tbad\n"));
  const DataRequest request{
      .id = "s",
      .validation_share = 0.4,
      .rules = {.names = {{"fair", "bad"}}, .dropped = {}}};
  EXPECT_THAT(loader.Load(request).value().labels.names(),
              ElementsAre("good", "bad"));
}

TEST_F(LoadTest, RulesThatLeaveOneClassAreRefused) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")));
  EXPECT_THAT(FaultOf(loader.Load(
                  {.id = "s", .rules = {.names = {}, .dropped = {"neg"}}})),
              IsFault(FaultKind::kMisuse, "leave the one label 'pos'"));
  EXPECT_THAT(
      FaultOf(loader.Load(
          {.id = "s", .rules = {.names = {}, .dropped = {"neg", "pos"}}})),
      IsFault(FaultKind::kMisuse, "all of its 40 rows"));
}

TEST_F(LoadTest, WhatIsNotThereIsNamed) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")));
  EXPECT_THAT(FaultOf(loader.Load({.id = "t"})),
              IsFault(FaultKind::kUnreadable, "no data set 't'"));
  EXPECT_THAT(FaultOf(loader.Load({.id = "s", .train_split = "big"})),
              IsFault(FaultKind::kMisuse, "no split 'big'"));
  EXPECT_THAT(FaultOf(loader.Load({.id = "s", .validation_split = "dev"})),
              IsFault(FaultKind::kMisuse, "no split 'dev'"));
  EXPECT_THAT(FaultOf(loader.Load({.id = "s", .validation_split = "train"})),
              IsFault(FaultKind::kMisuse, "the split that is trained on"));
  EXPECT_THAT(
      FaultOf(loader.Load({.id = "s", .task = TaskName{{}, true}})),
      IsFault(FaultKind::kMisuse, "needs a column for the second text"));
}

TEST_F(LoadTest, AnotherFileThanTheRegistrysIsRefused) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")));
  folder_.Write("sets/train", Reviews("b"));
  EXPECT_THAT(FaultOf(loader.Load({.id = "s"})),
              IsFault(FaultKind::kInconsistent, "sets/train: its SHA-256"));
  EXPECT_THAT(FaultOf(loader.Load({.id = "s", .sha256 = std::string(64, '0')})),
              IsFault(FaultKind::kInconsistent, "data.sha256"));
}

// Each row is a slice, each mebibyte of a sum, each row of a fingerprint.
TEST_F(LoadTest, NothingIsReadOnceAStopIsRaised) {
  const std::string yaml = "s:\n  splits:\n" + Split("train", Reviews("a"));
  const DataRequest request{.id = "s"};
  int asked = 0;
  int slices = 1 << 30;
  const StopSign stop([&] { return asked++ == slices; });
  const TaskData whole = Loader(yaml).Load(request, stop).value();
  const int all = asked;
  EXPECT_GE(all, 2 * 40);  // rows read, rows of both fingerprints
  for (slices = 0; slices < all; ++slices) {
    DataLoader loader = Loader(yaml);
    asked = 0;
    EXPECT_THAT(FaultOf(loader.Load(request, stop)),
                IsFault(FaultKind::kStopped, "a stop came"));
    EXPECT_EQ(asked, slices + 1);
    EXPECT_EQ(loader.Load(request).value().train.fingerprint,
              whole.train.fingerprint);
  }
}

TEST_F(LoadTest, RowsBehindAStopAreNotLookedAt) {
  DataLoader loader =
      Loader("s:\n  splits:\n" + Split("train", Reviews("a") + "no label\n"));
  EXPECT_THAT(FaultOf(loader.Load({.id = "s"})),
              IsFault(FaultKind::kSyntax, "line 42"));
  int rows = 0;  // the sum is known by now
  const StopSign after_ten([&] { return rows++ == 10; });
  EXPECT_THAT(FaultOf(loader.Load({.id = "s"}, after_ten)),
              IsFault(FaultKind::kStopped, ""));
}

TEST_F(LoadTest, DeclaredLabelsKeepTheirOrder) {
  DataLoader loader = Loader("s:\n  labels: [pos, neg]\n  splits:\n" +
                             Split("train", Reviews("a")));
  EXPECT_THAT(loader.Load({.id = "s"}).value().labels.names(),
              ElementsAre("pos", "neg"));
  DataLoader few =
      Loader("s:\n  labels: [pos]\n  splits:\n" + Split("train", Reviews("a")));
  EXPECT_THAT(FaultOf(few.Load({.id = "s"})),
              IsFault(FaultKind::kInconsistent, "line 2: label 'neg'"));
}

TEST_F(LoadTest, EqualRequestsGiveEqualRows) {
  DataLoader loader = Loader("s:\n  splits:\n" + Split("train", Reviews("a")));
  const DataRequest request{.id = "s", .train_rows = 10, .split_seed = 5};
  EXPECT_EQ(loader.Load(request).value().train.fingerprint,
            loader.Load(request).value().train.fingerprint);
  EXPECT_EQ(loader.files().sums_computed(), 1U);
}

using SplitRows = std::vector<std::uint32_t>;

// So many rows of each label, mixed.
Dataset Labelled(const std::vector<int>& counts) {
  std::string bytes = "text\tlabel\n";
  const int most = *std::max_element(counts.begin(), counts.end());
  for (int i = 0; i < most; ++i) {
    for (std::size_t label = 0; label < counts.size(); ++label) {
      if (i < counts[label]) bytes += "x\t" + std::to_string(label) + "\n";
    }
  }
  return DataFolder()
      .Read(DatasetReader(TaskKind::kClassification), bytes, Tsv(), {})
      .value();
}

std::vector<int> CountsOf(const Dataset& data, const SplitRows& rows) {
  std::vector<int> counts(data.labels().size());
  for (const std::uint32_t row : rows) {
    ++counts[static_cast<std::size_t>(data[row].label)];
  }
  return counts;
}

TEST(HoldOut, KeepsTheSharesOfTheClasses) {
  const Dataset data = Labelled({800, 150, 50});
  const HeldOut held = HoldOut(data, 0.1, 1).value();
  EXPECT_THAT(CountsOf(data, held.validation), ElementsAre(80, 15, 5));
  EXPECT_THAT(CountsOf(data, held.training), ElementsAre(720, 135, 45));
}

TEST(HoldOut, EveryRowIsOnOneSide) {
  const Dataset data = Labelled({37, 11, 3});
  HeldOut held = HoldOut(data, 0.25, 5).value();
  EXPECT_TRUE(std::is_sorted(held.validation.begin(), held.validation.end()));
  SplitRows all = held.training;
  all.insert(all.end(), held.validation.begin(), held.validation.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, data.AllRows());
  EXPECT_EQ(held.validation.size(), 13U);  // 12.75 to the nearest
}

TEST(HoldOut, DependsOnTheSeedAlone) {
  const Dataset data = Labelled({50, 50});
  EXPECT_EQ(HoldOut(data, 0.2, 3).value().validation,
            HoldOut(Labelled({50, 50}), 0.2, 3).value().validation);
  EXPECT_NE(HoldOut(data, 0.2, 3).value().validation,
            HoldOut(data, 0.2, 4).value().validation);
}

// The rows that every release must choose, or results stop comparing.
TEST(HoldOut, IsTheSameOnEveryMachine) {
  EXPECT_THAT(HoldOut(Labelled({10, 10}), 0.2, 42).value().validation,
              ElementsAre(1, 7, 8, 14));
}

TEST(HoldOut, NeverTakesAllOfAClass) {
  const Dataset data = Labelled({1, 2, 40});
  const HeldOut held = HoldOut(data, 0.9, 1).value();
  for (const int count : CountsOf(data, held.training)) EXPECT_GE(count, 1);
}

TEST(HoldOut, RefusesWhatLeavesASideEmpty) {
  const Dataset data = Labelled({1, 1});
  EXPECT_THAT(FaultOf(HoldOut(data, 0.1, 1)),
              IsFault(FaultKind::kMisuse, "holds out 0 of 2 rows"));
  for (const double share : {0.0, 1.0, -0.5, 2.0}) {
    EXPECT_FALSE(HoldOut(data, share, 1).ok()) << share;
  }
}

TEST(BalancedSubset, TakesEquallyManyOfEachClass) {
  const Dataset data = Labelled({900, 80, 20});
  const SplitRows rows = BalancedSubset(data, data.AllRows(), 60, 1);
  EXPECT_THAT(CountsOf(data, rows), ElementsAre(20, 20, 20));
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST(BalancedSubset, WhereAClassHasTooFewOthersGiveMore) {
  const Dataset data = Labelled({900, 80, 5});
  EXPECT_THAT(CountsOf(data, BalancedSubset(data, data.AllRows(), 65, 1)),
              ElementsAre(30, 30, 5));
}

TEST(BalancedSubset, ASmallerOneIsPartOfAGreaterOne) {
  const Dataset data = Labelled({300, 100});
  const SplitRows small = BalancedSubset(data, data.AllRows(), 31, 9);
  const SplitRows great = BalancedSubset(data, data.AllRows(), 150, 9);
  EXPECT_EQ(small.size(), 31U);
  EXPECT_TRUE(
      std::includes(great.begin(), great.end(), small.begin(), small.end()));
}

TEST(BalancedSubset, TakesNoOtherRowsThanGiven) {
  const Dataset data = Labelled({10, 10});
  const SplitRows given = {1, 3, 4, 8, 9};
  EXPECT_EQ(BalancedSubset(data, given, 100, 1), given);
  const SplitRows two = BalancedSubset(data, given, 2, 1);
  EXPECT_TRUE(
      std::includes(given.begin(), given.end(), two.begin(), two.end()));
}

TEST(BalancedSubset, ChanceIsFair) {
  // Given 200 samples of 10 of 100 rows, when counted, then each row came up
  // about 20 times: 5 to 45 is over five standard deviations on both sides.
  const Dataset data = Labelled({50, 50});
  std::vector<int> taken(100);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const auto row : BalancedSubset(data, data.AllRows(), 10, seed)) {
      ++taken[row];
    }
  }
  for (const int count : taken) {
    EXPECT_GT(count, 2);
    EXPECT_LT(count, 45);
  }
}

TEST(BalancedSubset, WithoutClassesChanceDecides) {
  const Dataset data = DataFolder()
                           .Read(DatasetReader(TaskKind::kRegression),
                                 "text\tlabel\na\t1\nb\t2\nc\t3\n", Tsv(), {})
                           .value();
  EXPECT_EQ(BalancedSubset(data, data.AllRows(), 2, 1).size(), 2U);
}

Expected<DataRequest> Read(const std::string& json) {
  const Expected<Json> parsed = Json::Parse(json);
  return ReadDataRequest(parsed.value().root());
}

TEST(DataRequest, ReadsWhatAStudySays) {
  const DataRequest request =
      Read(R"({"id": "sst-2", "columns": {"text": "sentence"},
               "train_split": "train", "train_rows": 2500, "split_seed": 7,
               "validation_share": 0.2, "task": "pair", "new_field": [1]})")
          .value();
  EXPECT_EQ(request.id, "sst-2");
  EXPECT_EQ(request.columns.at("text"), "sentence");
  EXPECT_EQ(request.train_rows, 2500U);
  EXPECT_EQ(request.split_seed, 7U);
  EXPECT_EQ(request.validation_share, 0.2);
  EXPECT_TRUE(request.task->pair);
  EXPECT_EQ(request.train_share, 0.0);
}

// The coordinator passes what stands there.
TEST(DataRequest, KnowsEveryKindOfTaskThatAStudyMaySay) {
  const SettingRow kinds = {
      .key = "task", .kind = SettingKind::kWord, .words = kTaskKinds};
  EXPECT_EQ(WordsOf(kinds).size(), 6U);
  for (const std::string_view kind : WordsOf(kinds)) {
    const std::string json =
        R"({"id": "a", "task": ")" + std::string(kind) + "\"}";
    EXPECT_TRUE(Read(json).ok()) << kind;
  }
}

TEST(DataRequest, EqualWordsAreEqualRequests) {
  EXPECT_EQ(Read(R"({"id": "a"})").value(), Read(R"({"id":"a"})").value());
  EXPECT_NE(Read(R"({"id": "a"})").value(),
            Read(R"({"id": "a", "split_seed": 1})").value());
}

TEST(DataRequest, SeedsMayHaveAllTheirBits) {
  EXPECT_EQ(Read(R"({"id": "a", "split_seed": 18446744073709551615})")
                .value()
                .split_seed,
            ~std::uint64_t{0});
}

TEST(DataRequest, MistakesNameTheField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({})", "data.id"},
      {R"({"id": "/etc/passwd"})", "data.id"},
      {R"({"id": "../x"})", "data.id"},
      {R"({"id": 3})", "data.id"},
      {R"({"id": "a", "train_rows": -1})", "data.train_rows"},
      {R"({"id": "a", "train_rows": 1.5})", "data.train_rows"},
      {R"({"id": "a", "train_rows": 1e30})", "data.train_rows"},
      {R"({"id": "a", "train_share": 1.5})", "data.train_share"},
      {R"({"id": "a", "validation_share": "x"})", "data.validation_share"},
      {R"({"id": "a", "task": "parsing"})", "data.task"},
      {R"({"id": "a", "columns": {"text": 1}})", "data.columns"},
      {R"({"id": "a", "label_map": {"0": 1}})", "data.label_map"},
      {R"({"id": "a", "label_map": {"0": ""}})", "data.label_map"},
      {R"({"id": "a", "label_map": {"0": "x"}, "drop_labels": ["0"]})",
       "data.drop_labels"},
      {R"({"id": "a", "drop_labels": "0"})", "data.drop_labels"},
      {R"({"id": "a", "lowercase": "yes"})", "data.lowercase"},
      {R"({"id": "a", "task": "regression", "drop_labels": ["0"]})",
       "data.label_map"},
      {R"({"id": "a", "columns": ["text"]})", "data.columns"},
      {R"({"id": "a", "train_rows": 5, "train_share": 0.5})",
       "data.train_rows and train_share"},
  };
  for (const auto& [json, cause] : cases) {
    EXPECT_THAT(FaultOf(Read(json)), IsFault(FaultKind::kMisuse, cause))
        << json;
  }
}

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const std::string kSum(64, 'a');

// A set `s` with the given lines, and a right split.
Expected<DatasetEntries> WithLines(const std::string& lines) {
  return ParseDatasets("s:\n" + lines + "  splits:\n    train: {path: t, " +
                           "sha256: " + kSum + "}\n",
                       "datasets.yaml");
}

TEST(Registry, ReadsDataSets) {
  const DatasetEntries sets =
      ParseDatasets(
          "sst2:\n  task: classification\n  format: tsv\n"
          "  columns: {text: sentence, label: label}\n"
          "  labels: [\"0\", \"1\"]\n"
          "  splits:\n"
          "    train:\n      path: a/train.tsv\n      sha256: " +
              kSum +
              "\n    test:\n      path: a/test.csv\n      sha256: " + kSum +
              "\n      format: csv\n      delimiter: tab\n"
              "      header: false\n      labelled: false\n"
              "      names: [label, content]\n"
              "      columns: {text: content}\n",
          "datasets.yaml")
          .value();
  const DatasetEntry& set = sets.at("sst2");
  EXPECT_EQ(set.task, TaskName{TaskKind::kClassification});
  EXPECT_THAT(set.labels, ElementsAre("0", "1"));
  const SplitEntry& train = set.splits.at("train");
  EXPECT_EQ(train.path, "a/train.tsv");
  EXPECT_TRUE(train.format.header);
  EXPECT_TRUE(train.labelled);
  const SplitEntry& test = set.splits.at("test");
  EXPECT_EQ(test.format.kind, FileFormat::Kind::kCsv);
  EXPECT_EQ(test.format.delimiter, '\t');
  EXPECT_FALSE(test.format.header);
  EXPECT_FALSE(test.labelled);
  EXPECT_THAT(test.columns, UnorderedElementsAre(Pair("text", "content"),
                                                 Pair("label", "label")));
}

TEST(Registry, ReadsModels) {
  const ModelEntries models =
      ParseModels("minilm: {path: minilm, sha256: " + kSum +
                      "}\nbig:\n  path: big\n  weights: "
                      "model.safetensors.index.json\n  sha256: " +
                      kSum + "\n  shards: {a.safetensors: " + kSum + "}\n",
                  "models.yaml")
          .value();
  EXPECT_EQ(models.at("minilm").weights, "model.safetensors");
  EXPECT_THAT(models.at("big").shards,
              ElementsAre(Pair("a.safetensors", kSum)));
  EXPECT_FALSE(ParseModels("m: {path: x}\n", "models.yaml").ok());
  // Else other weights would be loaded than were verified.
  for (const char* more : {"weights: weights.bin", "shards: {a: b}",
                           "weights: model.safetensors.index.json"}) {
    EXPECT_FALSE(
        ParseModels("m:\n  path: x\n  sha256: " + kSum + "\n  " + more + "\n",
                    "models.yaml")
            .ok())
        << more;
  }
}

TEST(Registry, MistakesNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"  formats: tsv\n", "'s': has an unknown key 'formats'"},
      {"  format: xml\n", "format 'xml' is unknown"},
      {"  task: parsing\n", "task 'parsing' is unknown"},
      {"  header: yes\n", "header is 'yes', neither true nor false"},
      {"  delimiter: \"ab\"\n", "delimiter is not one character"},
      {"  delimiter: \"\"\n", "delimiter is not one character"},
      {"  names: text\n", "names has another form"},
      {"  columns: [text]\n", "columns has another form"},
      {"  labels:\n    a: b\n", "labels has another form"},
  };
  for (const auto& [lines, cause] : cases) {
    EXPECT_THAT(FaultOf(WithLines(lines)),
                IsFault(FaultKind::kInconsistent, cause));
    EXPECT_THAT(FaultOf(WithLines(lines)),
                IsFault(FaultKind::kInconsistent, "datasets.yaml line "));
  }
}

TEST(Registry, ASplitNeedsAPathAndASum) {
  const auto split = [](const std::string& block) {
    return FaultOf(ParseDatasets("s:\n  splits:\n    train: " + block, "d"));
  };
  EXPECT_THAT(split("{path: x}"),
              IsFault(FaultKind::kInconsistent, "s.train: lacks sha256"));
  EXPECT_THAT(split("{path: x, sha256: abc}"),
              IsFault(FaultKind::kInconsistent, "not 64 lower-case"));
  EXPECT_THAT(split("{sha256: " + kSum + "}"),
              IsFault(FaultKind::kInconsistent, "lacks path"));
  EXPECT_THAT(split("x"), IsFault(FaultKind::kInconsistent, "no block"));
  EXPECT_THAT(FaultOf(ParseDatasets("s: {task: pair}\n", "d")),
              IsFault(FaultKind::kInconsistent, "lacks splits"));
}

TEST(Registry, IdsAreStrict) {
  for (const char* id : {"a", "0", "sst-2", "a.b_c"}) {
    EXPECT_TRUE(IsRegistryId(id)) << id;
  }
  EXPECT_TRUE(IsRegistryId(std::string(64, 'a')));
  EXPECT_FALSE(IsRegistryId(std::string(65, 'a')));
  for (const char* id :
       {"", ".a", "-a", "A", "a/b", "../a", "a b", "\xC3\xA9"}) {
    EXPECT_FALSE(IsRegistryId(id)) << id;
  }
  EXPECT_THAT(FaultOf(ParseModels("Big: {path: x}\n", "m")),
              IsFault(FaultKind::kInconsistent, "'Big' is no id"));
}

}  // namespace
}  // namespace frostline::trainer

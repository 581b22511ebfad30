// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/registry.h"

#include "base/plain/training_table.h"
#include "tests/worker/trainer/data/data_fixture.h"

namespace frostline::trainer {
namespace {

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
  EXPECT_EQ(WordsOf(kinds).size(), 4U);
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

using ::testing::ElementsAre;
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

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/registry.h"

#include "tests/worker/trainer/data/data_fixture.h"

namespace frostline::trainer {
namespace {

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

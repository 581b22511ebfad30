// SPDX-License-Identifier: Apache-2.0
//
// The published sets, read through a registry as a worker would. They are not
// part of the tree: FROSTLINE_SHARED_DATA names the folder that holds them, or
// one that has them in `data`.
#include <cstdlib>
#include <filesystem>

#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/load.h"

namespace frostline::trainer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

struct PublishedSet {
  const char* set;
  const char* split;
  std::size_t rows;
  std::size_t labels;
};

constexpr PublishedSet kSets[] = {
    {"ud-ewt", "train", 12544, 17},
    {"ud-ewt", "validation", 2001, 17},
    {"ud-ewt", "test", 2077, 17},
    {"ud-naija", "train", 7279, 16},
    {"ud-naija", "validation", 990, 16},
    {"ud-naija", "test", 972, 16},
    {"imdb", "train", 24980, 2},
    {"imdb", "test", 24980, 2},
    {"sst-2", "train", 67349, 2},
    {"sst-2", "validation", 872, 2},
    {"sst-2", "test", 1821, 2},
    {"sst-2-sentences", "train", 6920, 2},
    {"sst-2-sentences", "validation", 872, 2},
    {"sst-2-sentences", "test", 1821, 2},
    {"cola", "train", 8551, 2},
    {"cola", "validation", 527, 2},
    {"cola", "test", 516, 2},
    {"mrpc", "train", 2576, 2},
    {"mrpc", "validation", 1500, 2},
    {"mrpc", "test", 1725, 2},
    {"rte", "train", 1244, 2},
    {"rte", "validation", 139, 2},
    {"rte", "test", 1384, 2},
    {"wnli", "train", 565, 2},
    {"wnli", "validation", 70, 2},
    {"wnli", "test", 71, 2},
    {"sts-b", "train", 4249, 0},
    {"sts-b", "validation", 1500, 0},
    {"sts-b", "test", 1500, 0},
    {"sst-5", "train", 8544, 5},
    {"sst-5", "validation", 1101, 5},
    {"sst-5", "test", 2210, 0},
    {"cfimdb", "train", 1707, 2},
    {"cfimdb", "validation", 245, 2},
    {"cfimdb", "test", 488, 0},
    {"sts", "train", 6040, 0},
    {"sts", "validation", 863, 0},
    {"sts", "test", 1725, 0},
    {"quora", "validation", 20212, 2},
    {"yelp-sentences", "train", 1000, 2},
    {"amazon-sentences", "train", 1000, 2},
    {"imdb-sentences", "train", 1000, 2},
};

class PublishedSets : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* shared = std::getenv("FROSTLINE_SHARED_DATA");
    if (shared == nullptr || *shared == '\0') {
      GTEST_SKIP() << "set FROSTLINE_SHARED_DATA to the folder of the sets";
    }
    root_ = fs::is_directory(fs::path(shared) / "data")
                ? fs::path(shared) / "data"
                : fs::path(shared);
    const char* source = std::getenv("FROSTLINE_SOURCE_DIR");
    const std::string registry =
        std::string(source == nullptr ? "." : source) +
        "/tests/worker/trainer/data/data/datasets.yaml";
    yaml_ = InputFile::Open(registry).value().ReadAll(1 << 20).value();
  }

  DatasetEntries Entries() const {
    return ParseDatasets(yaml_, "datasets.yaml").value();
  }
  VerifiedFiles Files() const {
    return VerifiedFiles(DataRoot::Open(root_.string()).value());
  }
  Expected<Dataset> Read(const std::string& set, const std::string& split,
                         VerifiedFiles& files) const {
    const DatasetEntries entries = Entries();
    const DatasetEntry& entry = entries.at(set);
    const SplitEntry& of = entry.splits.at(split);
    Expected<InputFile> file = files.Open(of.path, of.sha256);
    if (!file.ok()) return file.fault();
    const bool words = of.format.kind == FileFormat::Kind::kConllu;
    DatasetReader reader(entry.task ? entry.task->kind
                         : words    ? TaskKind::kTagging
                                    : TaskKind::kClassification);
    if (!of.labelled) reader.WithoutLabels();
    if (of.skip_unlabelled) reader.SkipUnlabelled();
    return reader.Read(std::move(file).value(), of.format, of.columns);
  }

  fs::path root_;
  std::string yaml_;
};

TEST_F(PublishedSets, HaveTheirRowsAndLabels) {
  VerifiedFiles files = Files();
  for (const PublishedSet& expected : kSets) {
    const Expected<Dataset> data = Read(expected.set, expected.split, files);
    ASSERT_TRUE(data.ok()) << expected.set << ": " << data.fault().cause;
    EXPECT_EQ(data.value().size(), expected.rows)
        << expected.set << " " << expected.split;
    EXPECT_EQ(data.value().labels().size(), expected.labels)
        << expected.set << " " << expected.split;
  }
}

TEST_F(PublishedSets, SpotChecks) {
  VerifiedFiles files = Files();
  const Dataset ewt = Read("ud-ewt", "train", files).value();
  EXPECT_EQ(ewt.word_total(), 204'577U);
  EXPECT_EQ(ewt.words(0)[0], "Al");
  const Dataset mrpc = Read("mrpc", "test", files).value();
  EXPECT_TRUE(mrpc.is_pair());
  EXPECT_EQ(mrpc[0].text.substr(0, 6), "PCCW's");
  const Dataset quora = Read("quora", "validation", files).value();
  EXPECT_EQ(quora.skipped(), 2U);
  EXPECT_EQ(quora[1].text.substr(0, 10), "\"Which is ");
  EXPECT_THAT(quora.labels().names(), ElementsAre("0.0", "1.0"));
  const Dataset sst = Read("sst-2", "train", files).value();
  EXPECT_EQ(sst[0].text, "hide new secretions from the parental units");
  const Dataset sts = Read("sts-b", "train", files).value();
  EXPECT_EQ(sts[1].target, 3.8);
}

// What the recipes ask for: under a tenth of IMDb, balanced.
TEST_F(PublishedSets, ABalancedSampleOfImdb) {
  DataLoader loader(Entries(), Files());
  const TaskData data =
      loader.Load({.id = "imdb", .train_rows = 2400, .split_seed = 1}).value();
  EXPECT_EQ(data.train.size(), 2400U);
  EXPECT_EQ(data.validation.size(), 2498U);
  std::size_t positive = 0;
  for (const auto row : data.train.rows) {
    positive += (*data.train.data)[row].label == 1;
  }
  EXPECT_EQ(positive, 1200U);
}

TEST_F(PublishedSets, LoadWithTheirOwnValidation) {
  DataLoader loader(Entries(), Files());
  for (const char* set :
       {"ud-naija", "sst-2", "cola", "mrpc", "sts", "sst-5"}) {
    const Expected<TaskData> data = loader.Load({.id = set});
    ASSERT_TRUE(data.ok()) << set << ": " << data.fault().cause;
    const auto test = loader.LoadTest({.id = set}, data.value().labels);
    EXPECT_TRUE(test.ok()) << set;
  }
}

}  // namespace
}  // namespace frostline::trainer

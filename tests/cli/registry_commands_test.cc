// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/plain/sums.h"
#include "cli/commands/model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/prefix/prefix_store.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// `frostline registry` and `frostline init` as a newcomer uses them: the real
// binary, no coordinator.

class RegistryCommandsTest : public ::testing::Test {
 protected:
  RegistryCommandsTest() {
    const std::string source =
        std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
        "/tests/parity/data/models/bert-seq2";
    std::filesystem::create_directories(folder_.File("tiny"));
    for (const char* const file : {"/config.json", "/model.safetensors"}) {
      std::filesystem::copy_file(source + file, folder_.File("tiny") + file);
    }
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int i = 0; i < 135; ++i) {
      vocabulary += "w" + std::to_string(i) + "\n";
    }
    Write("tiny/vocab.txt", vocabulary);
    Write("my.csv", Reviews());
  }

  static std::string Reviews() {
    std::string text = "nr,review,stars\n";
    for (int i = 0; i < 60; ++i) {
      text += std::to_string(i) + ",\"w" + std::to_string(i) + ", w7 w8\"," +
              (i % 2 == 0 ? "good" : "bad") + "\n";
    }
    return text;
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.File(name), std::ios::binary) << text;
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_.File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool Exists(const std::string& name) const {
    return std::filesystem::exists(folder_.File(name));
  }

  // In the folder; the exit code. What it said is in output_.
  int Frostline(const std::string& arguments) {
    const std::string command =
        "cd '" + folder_.path().string() + "' && env -u FROSTLINE_REGISTRY " +
        std::getenv("FROSTLINE_BIN_DIR") + "/frostline " + arguments + " 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    output_.clear();
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
      output_ += buffer.data();
    }
    return WEXITSTATUS(pclose(pipe));
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(RegistryCommandsTest, AddCheckAndListAgree) {
  ASSERT_EQ(Frostline("registry add model tiny"), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("tiny: bert, 3 layers, 4 heads"),
                             HasSubstr("added to registry/models.yaml")));
  ASSERT_EQ(
      Frostline("registry add dataset my.csv --text review --label stars"), 0)
      << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("my: classification"),
                             HasSubstr("train: 60 rows"),
                             HasSubstr("2 classes: bad 30, good 30"),
                             HasSubstr("added to registry/datasets.yaml")));
  ASSERT_EQ(Frostline("registry check"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("all 2 entries of registry are right"));
  ASSERT_EQ(Frostline("registry list"), 0) << output_;
  EXPECT_THAT(output_,
              AllOf(HasSubstr("tiny  model     bert, 3 layers"),
                    HasSubstr("my    data set  classification; train")));
  ASSERT_EQ(Frostline("registry list --json"), 0) << output_;
  EXPECT_THAT(output_,
              AllOf(HasSubstr("\"data_sets\""), HasSubstr("\"sha256\"")));
}

TEST_F(RegistryCommandsTest, CheckNamesEachEntryThatIsWrongAndEndsWith100) {
  ASSERT_EQ(Frostline("registry add model tiny"), 0) << output_;
  ASSERT_EQ(Frostline("registry add dataset my.csv --text review"), 0)
      << output_;
  Write("registry/data/my/train.csv", "nr,review,stars\n1,a,b\n");
  Write("registry/models/tiny/vocab.txt", "[PAD]\n");
  EXPECT_EQ(Frostline("registry check"), 100);
  EXPECT_THAT(
      output_,
      AllOf(HasSubstr("data set my is wrong"), HasSubstr("its SHA-256 is"),
            HasSubstr("model tiny is wrong"), HasSubstr("2 of 2 entries")));
  Write("registry/models.yaml", "tiny:\n  path: [a]\n");
  EXPECT_EQ(Frostline("registry check"), 100);
  EXPECT_THAT(output_, HasSubstr("models.yaml line 2 column 9: "));
  EXPECT_EQ(Frostline("registry check --registry nowhere"), 100);
  EXPECT_THAT(output_, HasSubstr("there is no folder nowhere"));
}

TEST_F(RegistryCommandsTest, InitWritesAStudyFileThatFits) {
  ASSERT_EQ(Frostline("init --data my.csv --text review --label stars --model "
                      "tiny"),
            0)
      << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("study file my.yaml: 24 trials"),
                             HasSubstr("frostline study create my.yaml"),
                             HasSubstr("frostline importance my"),
                             HasSubstr("frostline report my -o my.html")));
  EXPECT_THAT(Text("my.yaml"), AllOf(HasSubstr("model: {id: tiny, layers: 3}"),
                                     HasSubstr("maximize: accuracy"),
                                     HasSubstr("validation_share: 0.2")));
  // Again it says the same, and a file that somebody changed stays theirs.
  EXPECT_EQ(Frostline("init --data my.csv --text review --label stars --model "
                      "tiny"),
            0)
      << output_;
  Write("my.yaml", "mine");
  EXPECT_EQ(Frostline("init --data my.csv --text review --label stars --model "
                      "tiny"),
            5);
  EXPECT_THAT(output_, HasSubstr("my.yaml is there already"));
  EXPECT_EQ(Text("my.yaml"), "mine");
}

TEST_F(RegistryCommandsTest, InitGivesAPipeNothingButTheStudy) {
  ASSERT_EQ(Frostline("init --data my.csv --text review --label stars --model "
                      "tiny -o - 2>said.txt | cat >piped.yaml && cat said.txt"),
            0)
      << output_;
  EXPECT_FALSE(Exists("-"));
  EXPECT_THAT(output_, HasSubstr("study file -: 24 trials"));
  EXPECT_THAT(Text("piped.yaml"), HasSubstr("model: {id: tiny, layers: 3}"));
}

TEST_F(RegistryCommandsTest, WhatInitCannotUseChangesNothing) {
  struct {
    const char* name;
    const char* text;
    const char* options;
    const char* cause;
  } const cases[] = {
      {"a.csv", "text,label\na b,x\nc d,x\n", "", "nothing to learn"},
      {"b.csv", "text,label\n,x\n,y\n", "", "every text is empty"},
      {"c.csv", "review,stars\na,x\nb,y\n", "--text reviews --label stars",
       "did you mean --text review?"},
      {"d.parquet", "PAR1", "", "read_parquet('d.parquet')"},
      {"e.csv", "text,label\na,x\nb,y\n", "--task classify", "--task is"},
      {"f.csv", "text,label\na,x\nb,y\n", "--study 'Bad Name'", "Bad Name"},
  };
  for (const auto& c : cases) {
    Write(c.name, c.text);
    EXPECT_NE(Frostline(std::string("init --data ") + c.name +
                        " --model tiny " + c.options),
              0)
        << c.name;
    EXPECT_THAT(output_, HasSubstr(c.cause)) << c.name;
    EXPECT_FALSE(Exists(std::string(1, c.name[0]) + ".yaml"));
    EXPECT_FALSE(Exists("registry/datasets.yaml")) << c.name;
  }
  EXPECT_EQ(Frostline("init --data my.csv --model nowhere"), 100);
  EXPECT_THAT(output_, HasSubstr("nowhere is no folder"));
  EXPECT_FALSE(Exists("registry"));
}

// Given classes that make a search hard, it is said before one begins.
TEST_F(RegistryCommandsTest, WhatMakesClassesHardIsSaidAtOnce) {
  std::string each = "text,label\n";
  std::string lopsided = "text,label\nw1 w2,rare\n";
  for (int i = 0; i < 80; ++i) {
    each += absl::StrCat("w1 w2,class", i, "\n");
    lopsided += i < 8 ? "w3 w4,few\n" : "w1 w2,usual\n";
  }
  Write("each.csv", each);
  Write("lopsided.csv", lopsided);
  ASSERT_EQ(Frostline("registry add dataset each.csv"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("warning: 80 classes of 80 rows: another"));
  ASSERT_EQ(Frostline("registry add dataset lopsided.csv"), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("warning: class 'rare' has one row"),
                             HasSubstr("89 % of the rows are 'usual'"),
                             HasSubstr("f1_macro or mcc")));
  ASSERT_EQ(Frostline("registry add dataset my.csv"), 0) << output_;
  EXPECT_THAT(output_, Not(HasSubstr("warning")));
}

TEST_F(RegistryCommandsTest, WhatWasAddedCanBeTakenOutAndReplaced) {
  ASSERT_EQ(Frostline("registry add dataset my.csv --id a"), 0) << output_;
  Write("my.csv", Reviews() + "60,w9 w9,good\n");
  EXPECT_NE(Frostline("registry add dataset my.csv --id a"), 0);
  EXPECT_THAT(output_, HasSubstr("--replace"));
  ASSERT_EQ(Frostline("registry add dataset my.csv --id a --replace"), 0)
      << output_;
  EXPECT_THAT(output_, HasSubstr("train: 61 rows"));
  ASSERT_EQ(Frostline("registry remove dataset a"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("a is no more in registry/datasets.yaml"));
  ASSERT_EQ(Frostline("registry list"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("registry is empty"));
}

TEST_F(RegistryCommandsTest, InitOffersNoImportanceOfAFewTrials) {
  ASSERT_EQ(Frostline("init --data my.csv --model tiny --text review "
                      "--label stars --trials 4"),
            0)
      << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("frostline study best my"),
                             Not(HasSubstr("importance"))));
}

// Given two mistakes, the one about the data is told first.
TEST_F(RegistryCommandsTest, InitLooksAtTheDataBeforeTheModel) {
  EXPECT_NE(Frostline("init --data lost.csv --model nowhere"), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("lost.csv"), Not(HasSubstr("nowhere"))));
  EXPECT_NE(Frostline("init --data my.csv --text reviews --model nowhere"), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("did you mean --text review?"),
                             Not(HasSubstr("nowhere"))));
}

// The rows are grown as the error says, and the same command is typed again.
TEST_F(RegistryCommandsTest, WhatInitHasRefusedCanBeMendedAndGivenAgain) {
  const std::string init = "init --data few.csv --model tiny";
  Write("few.csv", "text,label\nw1 w2,x\nw3 w4,y\n");
  EXPECT_EQ(Frostline(init), 100);
  EXPECT_THAT(output_, HasSubstr("few.csv has 2 rows, too few"));
  EXPECT_FALSE(Exists("registry"));
  std::string rows = "text,label\n";
  for (int i = 0; i < 12; ++i) rows += i % 2 == 0 ? "w1 w2,x\n" : "w3,y\n";
  Write("few.csv", rows);
  Write("few.yaml", "mine");
  EXPECT_EQ(Frostline(init), 5);
  EXPECT_FALSE(Exists("registry"));
  std::filesystem::remove(folder_.File("few.yaml"));
  EXPECT_EQ(Frostline(init), 0) << output_;
  EXPECT_TRUE(Exists("few.yaml"));
}

TEST_F(RegistryCommandsTest, AStudyThatDoesNotFitIsPlacedInItsFile) {
  ASSERT_EQ(Frostline("init --data my.csv --text review --label stars --model "
                      "tiny"),
            0)
      << output_;
  const std::string right = Text("my.yaml");
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string text = right;
    text.replace(text.find(before), before.size(), after);
    Write("my.yaml", text);
    EXPECT_EQ(Frostline("study create my.yaml --dry-run"), 100) << output_;
    return output_;
  };
  EXPECT_THAT(with("layers: 3", "layers: 12"),
              AllOf(HasSubstr("my.yaml:4:19"),
                    HasSubstr("tiny has 12 layers; it has 3"),
                    HasSubstr("write layers: 3")));
  EXPECT_THAT(with("max_length: ", "max_length: 3200  #"),
              AllOf(HasSubstr("max_length is 3200, and tiny reads at most"),
                    HasSubstr("write max_length: ")));
  EXPECT_THAT(with("maximize: accuracy", "maximize: acuracy"),
              AllOf(HasSubstr("no metric 'acuracy'"),
                    HasSubstr("did you mean 'accuracy'?")));
  EXPECT_THAT(
      with("task: classification",
           "columns: {text: title}\n  task: classification"),
      AllOf(HasSubstr("my.yaml:7:"), HasSubstr("has no column 'title'")));
  Write("my.yaml", right);
  EXPECT_EQ(Frostline("study create my.yaml --registry tiny"), 100);
  EXPECT_THAT(output_, HasSubstr("tiny has no model 'tiny'"));
}

// What --help has is in the reference, flag by flag.
TEST_F(RegistryCommandsTest, TheReferenceHasEachFlag) {
  std::ifstream file(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                     "/docs/reference/cli.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const char* const verb :
       {"init", "registry add model", "registry add dataset",
        "registry remove model", "registry remove dataset", "registry check",
        "registry list", "worker list", "study create"}) {
    ASSERT_EQ(Frostline(std::string(verb) + " --help"), 0);
    for (std::size_t at = output_.find("--"); at != std::string::npos;
         at = output_.find("--", at + 2)) {
      const std::size_t end =
          output_.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
      if (end <= at + 2) continue;
      EXPECT_THAT(page, HasSubstr(output_.substr(at, end - at))) << verb;
    }
  }
}

TEST_F(RegistryCommandsTest, HelpNamesEachFlag) {
  ASSERT_EQ(Frostline("init --help"), 0);
  for (const char* const flag : {"--data", "--text", "--label", "--model",
                                 "--registry", "--out", "--trials"}) {
    EXPECT_THAT(output_, HasSubstr(flag));
  }
  ASSERT_EQ(Frostline("registry --help"), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("add"), HasSubstr("check"),
                             HasSubstr("list"), Not(HasSubstr("--fleet"))));
}

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string SumOf(const std::string& bytes) {
  Sha256Sum sum;
  sum.Add(bytes);
  return sum.Finish();
}

class ModelCopyTest : public ::testing::Test {
 protected:
  ModelCopyTest() {
    Write("model/config.json", "{}");
    Write("model/onnx/graph", std::string(std::size_t{3} << 20, 'g'));
    Sums(absl::StrCat(SumOf("{}"), "  config.json\n",
                      SumOf(std::string(std::size_t{3} << 20, 'g')),
                      "  onnx/graph\n"));
  }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder_.File(name)).parent_path());
    std::ofstream(folder_.File(name), std::ios::binary) << text;
  }
  void Sums(const std::string& text) {
    Write("model/SHA256SUMS", text);
    model_.set_folder(folder_.File("model"));
    model_.set_sums_sha256(SumOf(text));
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_.File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // All that is in the test's folder besides the model.
  std::vector<std::string> Left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name != "model") names.push_back(name);
    }
    return names;
  }

  const TempFolder folder_;
  v1::TrainedModel model_;
};

TEST_F(ModelCopyTest, CopiesEveryFileAndItsSums) {
  ASSERT_TRUE(IsHere(model_));
  ASSERT_OK(CheckTarget(folder_.File("best/")));
  ASSERT_OK_AND_ASSIGN(const ModelCopy copy,
                       CopyModel(model_, folder_.File("best/")));
  EXPECT_EQ(copy.folder, folder_.File("best"));
  EXPECT_THAT(copy.files,
              ElementsAre("config.json", "onnx/graph", "SHA256SUMS"));
  EXPECT_EQ(copy.bytes,
            static_cast<std::int64_t>(2 + (std::size_t{3} << 20) +
                                      Text("model/SHA256SUMS").size()));
  EXPECT_EQ(Text("best/onnx/graph"), Text("model/onnx/graph"));
  EXPECT_EQ(Text("best/SHA256SUMS"), Text("model/SHA256SUMS"));
  EXPECT_THAT(Left(), ElementsAre("best"));
}

TEST_F(ModelCopyTest, AnEmptyFolderIsTakenAFullOneRefused) {
  fs::create_directories(folder_.File("empty"));
  ASSERT_OK(CheckTarget(folder_.File("empty")));
  EXPECT_OK(CopyModel(model_, folder_.File("empty")));
  const absl::Status full = CheckTarget(folder_.File("empty"));
  EXPECT_THAT(full, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(full.message(), HasSubstr("is no empty folder"));
  Write("file", "mine");
  EXPECT_THAT(CheckTarget(folder_.File("file")),
              FailsWith(ErrorId::kRequestInvalid));
  fs::create_directory_symlink(folder_.File("empty"), folder_.File("link"));
  EXPECT_THAT(CheckTarget(folder_.File("link")),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST_F(ModelCopyTest, AChangedFileIsFoundAndNothingIsLeft) {
  Write("model/onnx/graph", "gg");
  const auto copy = CopyModel(model_, folder_.File("best"));
  EXPECT_THAT(copy.status(), FailsWith(ErrorId::kStoreIo));
  EXPECT_THAT(copy.status().message(), HasSubstr("onnx/graph is not what"));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ModelCopyTest, AMissingFileIsFoundAndNothingIsLeft) {
  fs::remove(folder_.File("model/config.json"));
  EXPECT_FALSE(CopyModel(model_, folder_.File("best")).ok());
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ModelCopyTest, AnotherModelInItsPlaceIsNotTaken) {
  model_.set_sums_sha256(std::string(64, '0'));
  EXPECT_FALSE(IsHere(model_));
  model_.set_folder(folder_.File("nowhere"));
  EXPECT_FALSE(IsHere(model_));
}

TEST_F(ModelCopyTest, WhatAnInterruptedCopyLeftGoes) {
  Write(".best.frostline-part/old", "old");
  EXPECT_OK(CopyModel(model_, folder_.File("best")));
  EXPECT_FALSE(fs::exists(folder_.File("best/old")));
  EXPECT_THAT(Left(), ElementsAre("best"));
}

TEST_F(ModelCopyTest, AHostileListLeavesItsFolderNever) {
  Write("secret", "s");
  const std::string sum = SumOf("s");
  for (const std::string& line :
       {absl::StrCat(sum, "  ../secret"), absl::StrCat(sum, "  /etc/passwd"),
        absl::StrCat(sum, "  a/../../secret"), absl::StrCat(sum, "  ./x"),
        absl::StrCat(sum, "  "), std::string("zz  config.json"),
        sum.substr(1) + "   config.json", absl::StrCat(sum, "  onnx/")}) {
    Sums(line + "\n");
    EXPECT_FALSE(CopyModel(model_, folder_.File("best")).ok()) << line;
    EXPECT_THAT(Left(), ElementsAre("secret")) << line;
  }
}

// `frostline cache`: the real binary on a store as trainers leave it.

class CacheCommandsTest : public ::testing::Test {
 protected:
  // A group of 1,000 rows of 1 KiB, each of which took 2 ms.
  trainer::PrefixGroup Make() const {
    const auto store =
        trainer::PrefixStore::Open(folder_.File("prefix"), 1U << 30U).value();
    auto group = store.Group(std::string(64, 'a'), "tiny, embeddings").value();
    auto filler = trainer::GroupFiller::Try(group);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const std::vector<std::byte> row(1024, std::byte{1});
      EXPECT_TRUE(filler->Add({i, i}, row).ok());
    }
    EXPECT_TRUE(filler->Finish().ok());
    group.Note({2.0, 1000.0, 3000.0});
    return group;
  }

  int Frostline(const std::string& arguments) {
    const std::string command = std::string(std::getenv("FROSTLINE_BIN_DIR")) +
                                "/frostline " + arguments + " --dir '" +
                                folder_.File("prefix") + "' 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    output_.clear();
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
      output_ += buffer.data();
    }
    return WEXITSTATUS(pclose(pipe));
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(CacheCommandsTest, ListsWhatIsKeptAndClearsIt) {
  Make();
  ASSERT_EQ(Frostline("cache list"), 0) << output_;
  EXPECT_THAT(output_,
              AllOf(HasSubstr("tiny, embeddings"), HasSubstr("1.007 MiB"),
                    HasSubstr("3,000"), HasSubstr("4.0 s")));
  ASSERT_EQ(Frostline("cache list --json"), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("\"about\": \"tiny, embeddings\""),
                             HasSubstr("\"rows_taken\": 3000"),
                             HasSubstr("\"seconds_saved\": 4")));
  ASSERT_EQ(Frostline("cache clear"), 0);
  EXPECT_THAT(output_, HasSubstr("1.007 MiB removed from"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.File("prefix/v1")));
}

TEST_F(CacheCommandsTest, LeavesWhatATrainerUses) {
  const trainer::PrefixGroup used = Make();
  ASSERT_EQ(Frostline("cache clear"), 0);
  EXPECT_THAT(output_, HasSubstr("0 B removed from"));
  EXPECT_THAT(output_, HasSubstr("1 kept, as trainers use them"));
}

TEST_F(CacheCommandsTest, SaysWhereItLookedAndMakesNothing) {
  ASSERT_EQ(Frostline("cache list"), 0);
  EXPECT_THAT(output_,
              HasSubstr("nothing is kept in " + folder_.File("prefix")));
  ASSERT_EQ(Frostline("cache list --json"), 0);
  EXPECT_EQ(output_, "{\"kept\": []}\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/plain/sums.h"
#include "cli/commands/model.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

}  // namespace
}  // namespace frostline::cli

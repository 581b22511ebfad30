// SPDX-License-Identifier: Apache-2.0
//
// The demo's registry as the trainer's own reader sees it.
#include "cli/demo/demo_registry.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/data/load.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;

class DemoRegistryTest : public testing::Test {
 protected:
  DemoRegistryTest() {
    std::filesystem::create_directories(folder_.File("model"));
    for (const char* const file :
         {"config.json", "model.safetensors", "tokenizer.json"}) {
      std::ofstream(folder_.File(std::string("model/") + file)) << file;
    }
  }

  TempFolder folder_;
};

TEST_F(DemoRegistryTest, IsOneThatATrainerReads) {
  ASSERT_OK_AND_ASSIGN(const std::string model,
                       FindDemoModel(folder_.File("model")));
  const std::string registry = folder_.File("a/registry");
  ASSERT_OK(MakeDemoRegistry(registry, model));
  Expected<trainer::DataLoader> loader = trainer::DataLoader::Open(registry);
  ASSERT_TRUE(loader.ok()) << loader.fault().cause;
  const Expected<trainer::TaskData> data =
      loader.value().Load({.id = "demo-reviews"});
  ASSERT_TRUE(data.ok()) << data.fault().cause;
  EXPECT_EQ(data.value().train.size(), 400u);
  EXPECT_EQ(data.value().validation.size(), 200u);
}

TEST_F(DemoRegistryTest, NamesTheModelWithTheSumOfItsWeights) {
  const std::string registry = folder_.File("registry");
  ASSERT_OK(MakeDemoRegistry(registry, folder_.File("model")));
  trainer::InputFile opened =
      trainer::InputFile::Open(registry + "/models.yaml").value();
  const Expected<trainer::ModelEntries> models =
      trainer::ParseModels(opened.ReadAll(1000).value(), "models.yaml");
  ASSERT_TRUE(models.ok()) << models.fault().cause;
  const trainer::ModelEntry& minilm = models.value().at("minilm");
  trainer::VerifiedFiles files(trainer::DataRoot::Open(registry).value());
  EXPECT_TRUE(
      files.Open(minilm.path + "/" + minilm.weights, minilm.sha256).ok());
}

TEST_F(DemoRegistryTest, CanBeMadeAgain) {
  const std::string registry = folder_.File("registry");
  ASSERT_OK(MakeDemoRegistry(registry, folder_.File("model")));
  EXPECT_OK(MakeDemoRegistry(registry, folder_.File("model")));
}

TEST_F(DemoRegistryTest, SaysHowToComeByAModelThatIsNotThere) {
  std::filesystem::remove(folder_.File("model/tokenizer.json"));
  const auto found = FindDemoModel(folder_.File("model"));
  EXPECT_THAT(found, FailsWith(ErrorId::kTrainerFile));
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("no tokenizer.json in " + folder_.File("model")));
}

TEST_F(DemoRegistryTest, LooksForTheModelInTheCacheThatSetUpFills) {
  setenv("FROSTLINE_CACHE", folder_.File("cache").c_str(), 1);
  const auto found = FindDemoModel("");
  unsetenv("FROSTLINE_CACHE");
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr(folder_.File("cache/demo-model-")));
}

}  // namespace
}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/demo/demo_registry.h"
#include "cli/study_file/study_file.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

TEST(Recipes, AllParseAndHaveAnId) {
  const std::filesystem::path recipes =
      std::filesystem::path(std::getenv("FROSTLINE_SOURCE_DIR")) / "recipes";
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(recipes)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().filename().string();
    if (name == "recipe.yaml" || name == "datasets.yaml" ||
        name == "models.yaml") {
      continue;
    }
    ++count;
    const auto study = ReadStudyFile(entry.path().string());
    ASSERT_OK(study);
    EXPECT_NE(study->id, "") << entry.path();
  }
  EXPECT_GE(count, 1);
}

TEST(Recipes, TheDemosAreBuiltIn) {
  ASSERT_OK_AND_ASSIGN(const StudyFile real,
                       ParseStudyFile(kDemoRecipe, "demo"));
  EXPECT_EQ(real.id, "demo");
  EXPECT_GE(real.settings.budget().trials(), 24);
  EXPECT_EQ(real.spec.model().id(), "minilm");
  ASSERT_OK_AND_ASSIGN(const StudyFile synthetic,
                       ParseStudyFile(kSyntheticRecipe, "synthetic"));
  EXPECT_EQ(synthetic.id, real.id);  // so that a folder holds one of them
  EXPECT_EQ(synthetic.settings.budget().trials(), 40);
  EXPECT_EQ(synthetic.spec.model().layers(), 6);
}

}  // namespace
}  // namespace frostline::cli

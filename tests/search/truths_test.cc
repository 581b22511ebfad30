// SPDX-License-Identifier: Apache-2.0
#include "tests/search/truths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "tests/search/layerwise.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

std::string Write(const TempFolder& folder, const std::string& text) {
  const std::string path = (folder.path() / "truths.json").string();
  std::ofstream(path) << text;
  return path;
}

TEST(Truths, ATargetIsTheSumOfItsTables) {
  const TempFolder folder;
  const auto truths = ReadTruths(Write(folder, R"({"cases": {"two": {
      "modules": 3, "levels": 2, "terms": [
        {"axes": [1], "share": 0.4, "table": [-2, 2]},
        {"axes": [0, 2], "share": 0.6, "table": [[1, -1], [-3, 3]]}]}}})"));
  ASSERT_EQ(truths.size(), 1u);
  EXPECT_EQ(truths[0].name, "two");
  EXPECT_EQ(truths[0].Target({0, 0, 0}), -2 + 1);
  EXPECT_EQ(truths[0].Target({1, 1, 0}), 2 - 3);
  EXPECT_EQ(truths[0].MakeSpace().CountPoints(), 8);
}

TEST(Truths, ATableThatDoesNotFitIsRefusedByName) {
  const TempFolder folder;
  const std::string path = Write(folder, R"({"cases": {"odd": {
      "modules": 2, "levels": 3, "terms": [
        {"axes": [0], "share": 1, "table": [1, 2]}]}}})");
  EXPECT_THAT([&] { ReadTruths(path); },
              testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                  testing::HasSubstr(path), testing::HasSubstr("case odd"))));
}

TEST(Layerwise, HaveTheirMinimaWhereTheyShould) {
  const auto objectives = LayerwiseObjectives();
  EXPECT_EQ(objectives[0].loss({4, 2, 5, 3, 6, 1, 4}), -13.0 / 64.0);
  EXPECT_EQ(objectives[2].loss({5, 4, 5, 3, 5, 4, 5, 4, 3, 5, 4, 5, 2}), 0.0);
}

TEST(Layerwise, FrozenActsAsAnotherLevelWhereItIsDifferent) {
  const auto plain = LayerwiseObjectives()[0];
  const auto frozen = FrozenIsDifferent()[0];
  EXPECT_EQ(frozen.loss({0, 1, 1, 1, 1, 1, 1}),
            plain.loss({4, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(frozen.loss({1, 0, 1, 1, 1, 1, 1}),
            plain.loss({1, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(frozen.loss({1, 1, 0, 1, 1, 1, 1}),
            plain.loss({1, 1, 3, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace frostline::test

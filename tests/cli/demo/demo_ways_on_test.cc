// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_ways_on.h"

#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

TEST(WaysOn, OfTheSyntheticDemoLookAtItsStudy) {
  EXPECT_EQ(WaysOnText({.folder = "demo"}, "frostline"),
            "Next, type\n"
            "  frostline serve --data demo &\n"
            "  frostline study show demo\n");
  EXPECT_EQ(WaysOnText({.folder = "demo", .has_importance = true}, "frostline"),
            "Next, type\n"
            "  frostline serve --data demo &\n"
            "  frostline study show demo\n"
            "  frostline importance demo\n");
}

TEST(WaysOn, OfTheRealOneSearchAgain) {
  const WaysOn ways = {.folder = "my demo",
                       .has_importance = true,
                       .has_next = true,
                       .has_example = true};
  EXPECT_EQ(WaysOnText(ways, "bin/frostline"),
            "Next, type\n"
            "  bin/frostline serve --data 'my demo' &\n"
            "  bin/frostline worker --registry 'my demo/registry' --slots 2 &\n"
            "  bin/frostline study create 'my demo/next.yaml'"
            "  # then: study watch demo-next\n"
            "  bin/frostline report example -o example.html\n");
}

}  // namespace
}  // namespace frostline::cli

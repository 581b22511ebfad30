// SPDX-License-Identifier: Apache-2.0
#include "surrogate/link.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace frostline::surrogate {
namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();
const std::vector<double> kSeen = {0.2, 0.5, 0.9};

TEST(Link, GivesBackWhatItWasGiven) {
  for (const Link& link :
       {Link(), Link(0.0, 1.0, kSeen), Link(-1.0, 1.0, kSeen),
        Link(0.0, kOpen, kSeen), Link(-kOpen, 1.0, kSeen)}) {
    for (const double value : {0.0, 0.013, 0.5, 0.93, 1.0}) {
      EXPECT_NEAR(link.Back(link.Forward(value)), value, 1e-12);
    }
  }
}

TEST(Link, RisesEverywhereInTheRange) {
  for (const Link& link : {Link(0.0, 1.0, kSeen), Link(0.0, kOpen, kSeen),
                           Link(-kOpen, 1.0, kSeen)}) {
    for (double value = 0.0; value < 1.0; value += 0.01) {
      EXPECT_LT(link.Forward(value), link.Forward(value + 0.01));
    }
  }
}

TEST(Link, NothingLeavesTheRange) {
  const Link accuracy(0.0, 1.0, kSeen);
  const Link loss(0.0, kOpen, kSeen);
  const Link r2(-kOpen, 1.0, kSeen);
  for (const double number : {-kOpen, -1e3, -5.3, 0.0, 5.3, 1e3, kOpen}) {
    EXPECT_GE(accuracy.Back(number), 0.0);
    EXPECT_LE(accuracy.Back(number), 1.0);
    EXPECT_GE(loss.Back(number), 0.0);
    EXPECT_LE(r2.Back(number), 1.0);
  }
}

TEST(Link, ValuesAtTheEndsStayFinite) {
  EXPECT_TRUE(std::isfinite(Link(0.0, 1.0, kSeen).Forward(1.0)));
  EXPECT_TRUE(std::isfinite(Link(0.0, kOpen, kSeen).Forward(0.0)));
  EXPECT_TRUE(std::isfinite(Link(0.0, kOpen, {0.0, 0.0}).Forward(0.0)));
  EXPECT_TRUE(std::isfinite(Link(-1e308, 1e308, {0.0}).Forward(1e308)));
}

TEST(Link, OfALossLooksAtRatios) {
  const Link loss(0.0, kOpen, {0.1, 1.0, 10.0});
  EXPECT_NEAR(loss.Forward(10.0) - loss.Forward(1.0),
              loss.Forward(1.0) - loss.Forward(0.1), 0.1);
}

}  // namespace
}  // namespace frostline::surrogate

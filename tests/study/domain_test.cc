// SPDX-License-Identifier: Apache-2.0
#include "study/domain.h"

#include <cmath>
#include <limits>

#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Domain, GoodDomainsPass) {
  for (const Domain& domain : std::vector<Domain>{
           Levels{{0, 2e-6, 2e-5}}, Levels{{2e-5}},
           LogUniform{1e-7, 1e-3, true}, FloatRange{0, 0.3},
           FloatRange{1e-4, 1, 0, true}, IntRange{1, 64, 1, true},
           Categorical{{"\"adam\"", "16", "null"}}}) {
    EXPECT_OK(CheckDomain(domain, "f"));
  }
}

TEST(Domain, BadLevelsAreRefused) {
  for (const Levels& levels :
       {Levels{}, Levels{{2e-5, 2e-6}}, Levels{{1e-3, 1e-3}}, Levels{{-1, 1}},
        Levels{{0, kNan}}, Levels{{0, kInf}}}) {
    EXPECT_THAT(CheckDomain(levels, "space.modules[0]"),
                FailsWith(ErrorId::kLevelsInvalid));
  }
}

TEST(Domain, BadRangesAreRefused) {
  for (const Domain& domain : std::vector<Domain>{
           LogUniform{0, 1}, LogUniform{1e-3, 1e-4}, LogUniform{1e-3, 1e-3},
           LogUniform{1e-3, kInf}, FloatRange{1, 0}, FloatRange{0, kNan},
           FloatRange{0, 1, -0.1}, FloatRange{0, 1, 0, true}, IntRange{3, 2},
           IntRange{0, 5, 0}, IntRange{0, 5, 1, true}}) {
    EXPECT_THAT(CheckDomain(domain, "f"), FailsWith(ErrorId::kRangeInvalid));
  }
}

TEST(Domain, ContainsOnlyItsOwnValues) {
  const Domain levels = Levels{{0, 1e-5}};
  EXPECT_TRUE(Contains(levels, 1));
  EXPECT_FALSE(Contains(levels, 2));
  EXPECT_FALSE(Contains(levels, 0.5));
  EXPECT_FALSE(Contains(levels, kNan));
  const Domain rate = LogUniform{1e-6, 1e-3, true};
  EXPECT_TRUE(Contains(rate, 0.0));
  EXPECT_FALSE(Contains(rate, 1e-2));
  EXPECT_FALSE(Contains(LogUniform{1e-6, 1e-3, false}, 0.0));
  EXPECT_TRUE(Contains(FloatRange{0, 1, 0.25}, 0.75));
  EXPECT_FALSE(Contains(FloatRange{0, 1, 0.25}, 0.7));
  EXPECT_FALSE(Contains(IntRange{0, 8, 2}, 3));
}

TEST(Domain, CountsAndListsFiniteDomains) {
  EXPECT_EQ(CountValues(Levels{{0, 1, 2}}), 3);
  EXPECT_EQ(CountValues(IntRange{1, 9, 2}), 5);
  EXPECT_EQ(CountValues(FloatRange{0, 1, 0.25}), 5);
  EXPECT_EQ(CountValues(FloatRange{0, 1}), kInf);
  EXPECT_EQ(ListValues(IntRange{1, 9, 4}), (std::vector<double>{1, 5, 9}));
}

TEST(Domain, EveryListedValueIsInTheDomain) {
  for (const Domain& domain : std::vector<Domain>{
           FloatRange{0, 0.3, 0.1}, FloatRange{0.1, 0.7, 0.1},
           FloatRange{-1, 1, 0.01}, IntRange{-3, 9, 5}, Levels{{0, 1e-5}}}) {
    for (const double value : ListValues(domain)) {
      EXPECT_TRUE(Contains(domain, value)) << value;
    }
  }
}

TEST(Domain, FormatsAsAPersonReads) {
  EXPECT_EQ(FormatValue(Levels{{0, 2e-5}}, 0), "frozen");
  EXPECT_EQ(FormatValue(Levels{{0, 2e-5}}, 1), "2e-05");
  EXPECT_EQ(FormatValue(Categorical{{"\"adam\""}}, 0), "\"adam\"");
}

}  // namespace
}  // namespace frostline

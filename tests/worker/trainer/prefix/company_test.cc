// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/company.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace frostline::trainer {
namespace {

constexpr std::size_t kMost = 12;  // 12, 6, 3, 1

// Kernels that compute as they are told to.
struct Kernels {
  std::set<std::size_t> differing;  // sizes with other bits than the largest
  bool places_differ = false;
  bool top_places_differ = false;
  std::vector<std::size_t> asked;

  Company::Compute Compute() {
    return [this](std::size_t size) {
      asked.push_back(size);
      const auto texts = static_cast<std::int64_t>(size);
      CompanySample sample;
      sample.layer =
          at::full({texts, 2, 4}, differing.contains(size) ? 2.0 : 1.0);
      sample.top = at::ones({texts, 1, 4});  // [B, 1, H]
      if (places_differ) sample.layer[texts - 1] += 1.0;
      if (top_places_differ) sample.top[texts - 1] += 1.0;
      return sample;
    };
  }
};

TEST(Company, TakesTheLargestSizeThatIsFilled) {
  KnownCompany known;
  Kernels kernels;
  Company company(known, kMost, kernels.Compute());

  EXPECT_EQ(company.SizeFor(40), 12U);
  EXPECT_EQ(company.SizeFor(11), 6U);
  EXPECT_EQ(company.SizeFor(5), 3U);
  EXPECT_EQ(company.SizeFor(2), 1U);
}

TEST(Company, PassesOverASizeWithOtherBits) {
  KnownCompany known;
  Kernels kernels;
  kernels.differing = {6};
  Company company(known, kMost, kernels.Compute());

  EXPECT_EQ(company.SizeFor(11), 3U);
  EXPECT_EQ(company.SizeFor(12), 12U);
}

TEST(Company, FillsUpTheSmallestWhereNoneSoSmallHasTheBits) {
  KnownCompany known;
  Kernels kernels;
  kernels.differing = {1, 3};
  Company company(known, kMost, kernels.Compute());

  EXPECT_EQ(company.SizeFor(2), 6U);
  kernels.differing = {1, 3, 6};
  KnownCompany other;
  EXPECT_EQ(Company(other, kMost, kernels.Compute()).SizeFor(2), 12U);
}

TEST(Company, ComputesTextsOneByOneWherePlacesDiffer) {
  KnownCompany known;
  Kernels kernels;
  kernels.places_differ = true;
  Company company(known, kMost, kernels.Compute());

  EXPECT_EQ(company.SizeFor(40), 1U);
}

TEST(Company, LeavesTheTopAloneWhereItsPlacesDiffer) {
  KnownCompany known;
  Kernels kernels;
  kernels.top_places_differ = true;
  Company company(known, kMost, kernels.Compute());

  EXPECT_TRUE(company.top_alone());
  EXPECT_EQ(company.SizeFor(11), 6U);
}

TEST(Company, LooksAtASizeWhenItIsFirstWantedAndOnce) {
  KnownCompany known;
  Kernels kernels;
  Company first(known, kMost, kernels.Compute());
  EXPECT_EQ(first.SizeFor(40), 12U);
  EXPECT_EQ(first.SizeFor(4), 3U);
  EXPECT_EQ(kernels.asked, (std::vector<std::size_t>{12, 3}));

  Company second(known, kMost, kernels.Compute());
  EXPECT_EQ(second.SizeFor(4), 3U);
  EXPECT_EQ(kernels.asked, (std::vector<std::size_t>{12, 3}));
  EXPECT_EQ(second.SizeFor(1), 1U);
  EXPECT_EQ(kernels.asked, (std::vector<std::size_t>{12, 3, 1, 12}));
}

}  // namespace
}  // namespace frostline::trainer

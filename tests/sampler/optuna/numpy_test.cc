// SPDX-License-Identifier: Apache-2.0
//
// Known answers of NumPy 2.4.
#include "sampler/optuna/numpy.h"

#include <algorithm>
#include <numeric>

#include "gmock/gmock.h"

namespace frostline::sampler {
namespace {

using testing::ElementsAre;

TEST(NumpyStream, HasTheBitsOfRandomState) {
  NumpyStream zero(0), most(4294967295u);
  const auto four = [](NumpyStream& stream) {
    std::vector<std::uint32_t> bits(4);
    for (std::uint32_t& word : bits) word = stream.NextBits();
    return bits;
  };
  EXPECT_THAT(four(zero),
              ElementsAre(2357136044u, 2546248239u, 3071714933u, 3626093760u));
  EXPECT_THAT(four(most),
              ElementsAre(419326371u, 479346978u, 3918654476u, 2416749639u));
}

TEST(NumpyStream, HasTheDoublesOfRandomState) {
  EXPECT_THAT(
      NumpyStream(42).Uniforms(3),
      ElementsAre(0.3745401188473625, 0.9507143064099162, 0.7319939418114051));
  NumpyStream stream(20240101);
  // Past several turns of the 624 words.
  EXPECT_EQ(stream.Uniforms(2000).back(), 0.5574067795053779);
  EXPECT_EQ(stream.Uniform(-3.0, 5.0), 0.7752806320043968);
}

TEST(NumpyStream, ACopyGoesOnWhereTheOriginalStood) {
  NumpyStream stream(7);
  stream.Uniforms(100);
  NumpyStream copy = stream;
  EXPECT_EQ(stream.Uniforms(1000), copy.Uniforms(1000));
}

std::vector<double> Harmonic(int count) {
  std::vector<double> numbers;
  for (int i = 1; i <= count; ++i) numbers.push_back(1.0 / i);
  return numbers;
}

// From left to right it is 0.9999999999999999 and 6.282663880299502.
TEST(NumpySum, AddsInBlocks) {
  EXPECT_EQ(NumpySum({}), 0.0);
  EXPECT_EQ(NumpySum(std::vector<double>(10, 0.1)), 1.0);
  EXPECT_EQ(NumpySum(Harmonic(7)), 2.5928571428571425);
  EXPECT_EQ(NumpySum(Harmonic(20)), 3.597739657143682);
  EXPECT_EQ(NumpySum(Harmonic(300)), 6.282663880299504);
}

std::vector<double> Repeating(int count) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i * 7 % 5);
  return numbers;
}

TEST(NumpyArgSort, LeavesEqualNumbersWhereTheNetworkDoes) {
  EXPECT_THAT(NumpyArgSort(Repeating(20)),
              ElementsAre(0, 5, 15, 10, 8, 13, 3, 18, 11, 6, 16, 1, 14, 19, 4,
                          9, 12, 7, 2, 17));
}

TEST(NumpyArgSort, PartitionsAbove256Numbers) {
  const std::vector<std::size_t> order = NumpyArgSort(Repeating(300));
  const std::vector<std::size_t> first(order.begin(), order.begin() + 12);
  const std::vector<std::size_t> last(order.end() - 8, order.end());
  EXPECT_THAT(first,
              ElementsAre(0, 5, 30, 25, 35, 40, 270, 265, 275, 45, 70, 55));
  EXPECT_THAT(last, ElementsAre(32, 37, 272, 267, 7, 27, 297, 2));
}

TEST(NumpyArgSort, SortsWhateverTheNumbersAre) {
  NumpyStream stream(3);
  for (std::size_t count : {0u, 1u, 2u, 255u, 256u, 257u, 999u, 5000u}) {
    std::vector<double> numbers = stream.Uniforms(count);
    for (double& number : numbers) {
      number = static_cast<double>(static_cast<int>(number * 300.0));
    }
    std::vector<std::size_t> order = NumpyArgSort(numbers);
    for (std::size_t i = 1; i < count; ++i) {
      ASSERT_LE(numbers[order[i - 1]], numbers[order[i]]) << count;
    }
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_TRUE(std::is_permutation(all.begin(), all.end(), order.begin()));
  }
}

}  // namespace
}  // namespace frostline::sampler

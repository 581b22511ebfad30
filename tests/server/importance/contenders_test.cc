// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "frostline/v1/trial.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/wire_values.h"
#include "server/importance/comparison.h"
#include "server/wire/convert.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

storage::OutcomeRow Row(v1::ExampleOutcomes::Encoding encoding,
                        std::int64_t count, const std::string& data) {
  storage::OutcomeRow row;
  row.encoding = encoding;
  row.count = count;
  row.data = data;
  return row;
}

std::vector<float> MarksOf(const storage::OutcomeRow& row) {
  return ReadOutcomes(*OutcomesOfSet(row, "", "")).marks;
}

TEST(OutcomeRows, BitsAreReadFromTheLowest) {
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::PACKED_BITS, 10, "\x05\x02")),
              ElementsAre(1, 0, 1, 0, 0, 0, 0, 0, 0, 1));
}

TEST(OutcomeRows, HalvesAreLittleEndian) {
  using std::string_literals::operator""s;
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::FLOAT16, 3,
                          "\x00\x3c\x00\xc0\x01\x00"s)),
              ElementsAre(1.0f, -2.0f, std::ldexp(1.0f, -24)));
  EXPECT_TRUE(std::isinf(proto::FromHalf(0x7c00)));
  EXPECT_TRUE(std::isnan(proto::FromHalf(0x7e00)));
}

TEST(OutcomeRows, WhatDoesNotAddUpIsNothing) {
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::PACKED_BITS, 17, "\x05\x02")),
              IsEmpty());
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::FLOAT16, 2, "abc")), IsEmpty());
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::PACKED_BITS, -1, "")),
              IsEmpty());
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::ENCODING_UNSPECIFIED, 8, "a")),
              IsEmpty());
}

}  // namespace
}  // namespace frostline::server

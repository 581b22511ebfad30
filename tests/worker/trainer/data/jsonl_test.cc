// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/jsonl.h"

#include "tests/worker/trainer/data/data_fixture.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

std::string JsonlRows(std::string_view bytes,
                      const std::vector<std::string>& columns) {
  return DataFolder().Rows(bytes, Jsonl(), columns);
}

TEST(Jsonl, ReadsTextsNumbersAndBooleans) {
  EXPECT_EQ(JsonlRows("{\"t\": \"a\\n\\u00e9\", \"l\": 1}\n\n"
                      "{\"l\": 1.0, \"t\": \"b\", \"x\": {}}\r\n"
                      "{\"l\": true, \"t\": 2.5}",
                      {"t", "l"}),
            "a\n\xC3\xA9|1;b|1;2.5|true");
}

TEST(Jsonl, ReadsLists) {
  EXPECT_EQ(JsonlRows("{\"w\": [\"a\", \"b\"], \"t\": []}", {"w", "t"}),
            "a,b|");
}

TEST(Jsonl, NullAndAbsenceAreTheSame) {
  EXPECT_EQ(JsonlRows("{\"t\": null}", {"t", "l"}), "(absent)|(absent)");
}

TEST(Jsonl, BrokenLinesAreNamed) {
  EXPECT_THAT(JsonlRows("{\"t\": 1}\n{\"t\": \"a\n", {"t"}),
              HasSubstr("line 2: "));
  EXPECT_THAT(JsonlRows("[1]", {"t"}),
              HasSubstr("line 1: is not a JSON object"));
  EXPECT_THAT(JsonlRows("{\"t\": {}}", {"t"}),
              HasSubstr("line 1: 't' is neither"));
  EXPECT_THAT(JsonlRows("{\"t\": [1]}", {"t"}),
              HasSubstr("line 1: 't' is neither"));
  EXPECT_THAT(JsonlRows("{\"t\": 1, \"t\": 2}", {"t"}), HasSubstr("line 1: "));
}

}  // namespace
}  // namespace frostline::trainer

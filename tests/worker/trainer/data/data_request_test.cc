// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/data_request.h"

#include "base/plain/training_table.h"
#include "tests/worker/trainer/data/data_fixture.h"

namespace frostline::trainer {
namespace {

Expected<DataRequest> Read(const std::string& json) {
  const Expected<Json> parsed = Json::Parse(json);
  return ReadDataRequest(parsed.value().root());
}

TEST(DataRequest, ReadsWhatAStudySays) {
  const DataRequest request =
      Read(R"({"id": "sst-2", "columns": {"text": "sentence"},
               "train_split": "train", "train_rows": 2500, "split_seed": 7,
               "validation_share": 0.2, "task": "pair", "new_field": [1]})")
          .value();
  EXPECT_EQ(request.id, "sst-2");
  EXPECT_EQ(request.columns.at("text"), "sentence");
  EXPECT_EQ(request.train_rows, 2500U);
  EXPECT_EQ(request.split_seed, 7U);
  EXPECT_EQ(request.validation_share, 0.2);
  EXPECT_TRUE(request.task->pair);
  EXPECT_EQ(request.train_share, 0.0);
}

// The coordinator passes what stands there.
TEST(DataRequest, KnowsEveryKindOfTaskThatAStudyMaySay) {
  const SettingRow kinds = {
      .key = "task", .kind = SettingKind::kWord, .words = kTaskKinds};
  EXPECT_EQ(WordsOf(kinds).size(), 4U);
  for (const std::string_view kind : WordsOf(kinds)) {
    const std::string json =
        R"({"id": "a", "task": ")" + std::string(kind) + "\"}";
    EXPECT_TRUE(Read(json).ok()) << kind;
  }
}

TEST(DataRequest, EqualWordsAreEqualRequests) {
  EXPECT_EQ(Read(R"({"id": "a"})").value(), Read(R"({"id":"a"})").value());
  EXPECT_NE(Read(R"({"id": "a"})").value(),
            Read(R"({"id": "a", "split_seed": 1})").value());
}

TEST(DataRequest, SeedsMayHaveAllTheirBits) {
  EXPECT_EQ(Read(R"({"id": "a", "split_seed": 18446744073709551615})")
                .value()
                .split_seed,
            ~std::uint64_t{0});
}

TEST(DataRequest, MistakesNameTheField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({})", "data.id"},
      {R"({"id": "/etc/passwd"})", "data.id"},
      {R"({"id": "../x"})", "data.id"},
      {R"({"id": 3})", "data.id"},
      {R"({"id": "a", "train_rows": -1})", "data.train_rows"},
      {R"({"id": "a", "train_rows": 1.5})", "data.train_rows"},
      {R"({"id": "a", "train_rows": 1e30})", "data.train_rows"},
      {R"({"id": "a", "train_share": 1.5})", "data.train_share"},
      {R"({"id": "a", "validation_share": "x"})", "data.validation_share"},
      {R"({"id": "a", "task": "parsing"})", "data.task"},
      {R"({"id": "a", "columns": {"text": 1}})", "data.columns"},
      {R"({"id": "a", "label_map": {"0": 1}})", "data.label_map"},
      {R"({"id": "a", "label_map": {"0": ""}})", "data.label_map"},
      {R"({"id": "a", "label_map": {"0": "x"}, "drop_labels": ["0"]})",
       "data.drop_labels"},
      {R"({"id": "a", "drop_labels": "0"})", "data.drop_labels"},
      {R"({"id": "a", "lowercase": "yes"})", "data.lowercase"},
      {R"({"id": "a", "task": "regression", "drop_labels": ["0"]})",
       "data.label_map"},
      {R"({"id": "a", "columns": ["text"]})", "data.columns"},
      {R"({"id": "a", "train_rows": 5, "train_share": 0.5})",
       "data.train_rows and train_share"},
  };
  for (const auto& [json, cause] : cases) {
    EXPECT_THAT(FaultOf(Read(json)), IsFault(FaultKind::kMisuse, cause))
        << json;
  }
}

}  // namespace
}  // namespace frostline::trainer

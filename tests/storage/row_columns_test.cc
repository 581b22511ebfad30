// SPDX-License-Identifier: Apache-2.0
//
// The description of the rows serves any database: here one that keeps texts.
#include "storage/row_columns.h"

#include <deque>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/row_text.h"

namespace frostline::storage {
namespace {

struct Kept {
  void Int(std::int64_t value) { values.push_back(absl::StrCat(value)); }
  void Text(const std::string& value) { values.push_back(value); }
  void Blob(const std::string& value) { values.push_back(value); }
  void LaterText(const std::string& value) { values.push_back(value); }
  void LaterBlob(const std::string& value) { values.push_back(value); }
  std::int64_t Int() {
    std::int64_t value = 0;
    EXPECT_TRUE(absl::SimpleAtoi(Bytes(), &value));
    return value;
  }
  std::string Bytes() {
    std::string value = values.front();
    values.pop_front();
    return value;
  }
  std::string LaterBytes() { return Bytes(); }
  std::deque<std::string> values;
};

template <typename Row, typename F>
void ForEveryColumn(F f) {
  ForEachColumn(RowColumns<Row>::kKey, f);
  ForEachColumn(RowColumns<Row>::kFixed, f);
  ForEachColumn(RowColumns<Row>::kChanging, f);
}

template <typename Row>
void ExpectWhole(const Row& row) {
  Kept stored;
  ForEveryColumn<Row>(
      [&](const auto& column) { BindColumn(column, row, stored); });
  Row back;
  ForEveryColumn<Row>([&](const auto& column) {
    EXPECT_TRUE(ReadColumn(column, stored, back)) << column.name;
  });
  EXPECT_EQ(test::Text(back), test::Text(row));
  EXPECT_TRUE(stored.values.empty());
}

TEST(RowColumns, HoldEveryFieldOfEveryRow) {
  StudyRow owned = test::FullStudy("imdb");
  owned.owner = "ana";
  ExpectWhole(owned);
  ExpectWhole(test::FullTrial(1, 2));
  ExpectWhole(test::FullAttempt(1, 2, 3));
  ExpectWhole(test::FullOutcome(1, 2));
  ExpectWhole(test::FullLog(1, 2, 3));
  ExpectWhole(test::FullSummary(1));
  ExpectWhole(test::FullBest(1, 2));
  ExpectWhole(test::FullWorker("w"));
  ExpectWhole(test::FullToken("t"));
  ExpectWhole(test::FullCertificate("c"));
  ExpectWhole(test::FullAudit(1));
  ExpectWhole(test::FullNotification("n"));
  ExpectWhole(test::FullReply("r"));
}

TEST(RowColumns, NoBytesAreTakenForAValueThatTheyAreNot) {
  TrialRow row;
  Kept source{{"half"}};
  const auto& point = std::get<1>(RowColumns<TrialRow>::kFixed);
  EXPECT_STREQ(point.name, "point");
  EXPECT_FALSE(ReadColumn(point, source, row));
}

}  // namespace
}  // namespace frostline::storage

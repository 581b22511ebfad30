// SPDX-License-Identifier: Apache-2.0
//
// Trials by column, and what has changed in one answer: both say what the list
// of trials says.
#include "server/verbs/table_verbs.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/server/counting_fixture.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kTrials = 300;

// A cell as text; nothing where the row has no value.
using Cell = std::optional<std::string>;

Cell CellAt(const v1::TrialColumn& column, std::size_t row) {
  const std::string& present = column.present();
  if (!present.empty() && (present[row / 8] >> row % 8 & 1) == 0) return {};
  const int at = static_cast<int>(row);
  if (column.has_numbers()) return absl::StrCat(column.numbers().values(at));
  if (column.has_integers()) return absl::StrCat(column.integers().values(at));
  const auto& cells = column.codes();
  const std::size_t width = cells.entries_size() <= 256 ? 1 : 2;
  std::uint32_t code = 0;
  for (std::size_t i = width; i-- > 0;) {
    code =
        code << 8 | static_cast<std::uint8_t>(cells.codes()[row * width + i]);
  }
  const auto& entry = cells.entries(static_cast<int>(code));
  return entry.has_string_value() ? entry.string_value()
                                  : absl::StrCat(entry.number_value());
}

class TrialTableTest : public CountingFixture {
 protected:
  void SetUp() override {
    CountingFixture::SetUp();
    v1::ImportTrialsRequest import;
    import.set_request_id(RandomHexId());
    import.set_name("studies/a");
    for (int i = 0; i < kTrials; ++i) Describe(i, *import.add_trials());
    ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(import));
  }

  // Every seventh has failed, every third has a label.
  static void Describe(int i, v1::ImportedTrial& trial) {
    const double levels[] = {0.0, 1e-5, 1e-4};
    auto& parameters = *trial.mutable_parameters();
    parameters["layer.0"].set_number_value(levels[i % 3]);
    parameters["layer.1"].set_number_value(levels[i / 3 % 3]);
    trial.set_seed(static_cast<std::uint64_t>(1000 + i));
    if (i % 3 == 0) (*trial.mutable_labels())["kind"] = absl::StrCat("k", i);
    trial.set_state(i % 7 == 6 ? v1::TRIAL_STATE_FAILED
                               : v1::TRIAL_STATE_SUCCEEDED);
    if (i % 7 == 6) return;
    (*trial.mutable_metrics())["accuracy"] = 0.5 + 1e-3 * i;
    trial.mutable_usage()->set_train_seconds(0.25 * i);
  }

  absl::StatusOr<v1::GetTrialTableReply> Ask(
      const std::vector<std::string>& columns = {}, int page_size = 0,
      const std::string& token = "", const std::string& filter = "",
      std::int64_t after = 0) {
    v1::GetTrialTableRequest request;
    request.set_parent("studies/a");
    request.mutable_columns()->Assign(columns.begin(), columns.end());
    request.set_page_size(page_size);
    request.set_page_token(token);
    request.set_filter(filter);
    request.set_after_revision(after);
    return driver_->Call<v1::GetTrialTableReply>(request);
  }

  std::vector<v1::Trial> List() {
    v1::ListTrialsRequest request;
    request.set_parent("studies/a");
    request.set_page_size(1000);
    request.set_view(v1::TRIAL_VIEW_FULL);
    const auto page = driver_->Call<v1::ListTrialsReply>(request);
    EXPECT_OK(page);
    return {page->trials().begin(), page->trials().end()};
  }

  void Label(std::int64_t number, const std::string& text) {
    v1::UpdateTrialRequest request;
    request.set_request_id(RandomHexId());
    request.set_name(absl::StrCat("studies/a/trials/", number));
    (*request.mutable_labels())["kind"] = text;
    request.mutable_update_mask()->add_paths("labels");
    ASSERT_OK(driver_->Call<v1::Trial>(request));
  }

  absl::StatusOr<v1::StudyDelta> Delta(std::int64_t after, int most = 0) {
    v1::GetStudyDeltaRequest request;
    request.set_name("studies/a");
    request.set_after_revision(after);
    request.set_max_trials(most);
    request.set_view(v1::TRIAL_VIEW_FULL);
    return driver_->Call<v1::StudyDelta>(request);
  }
};

std::map<std::string, const v1::TrialColumn*> ByName(
    const v1::TrialTable& table) {
  std::map<std::string, const v1::TrialColumn*> columns;
  for (const v1::TrialColumn& column : table.columns()) {
    EXPECT_TRUE(columns.emplace(column.name(), &column).second);
  }
  return columns;
}

TEST_F(TrialTableTest, SaysWhatTheListSays) {
  const std::vector<v1::Trial> trials = List();
  ASSERT_THAT(trials, SizeIs(kTrials));
  ASSERT_OK_AND_ASSIGN(const auto reply, Ask());
  EXPECT_THAT(reply.next_page_token(), IsEmpty());
  ASSERT_EQ(reply.table().rows(), kTrials);
  const auto columns = ByName(reply.table());
  EXPECT_EQ(columns.count("labels.kind"), 0u) << "unless it is asked for";
  for (std::size_t row = 0; row < trials.size(); ++row) {
    const v1::Trial& trial = trials[row];
    const auto cell = [&](const std::string& name) {
      return columns.count(name) > 0 ? CellAt(*columns.at(name), row) : Cell();
    };
    EXPECT_EQ(cell("number"), absl::StrCat(trial.number()));
    EXPECT_EQ(absl::StrCat("TRIAL_STATE_", *cell("state")),
              v1::TrialState_Name(trial.state()));
    EXPECT_EQ(absl::StrCat("TRIAL_ORIGIN_", *cell("origin")),
              v1::TrialOrigin_Name(trial.origin()));
    EXPECT_EQ(cell("seed"), absl::StrCat(trial.seed()));
    EXPECT_EQ(cell("revision"), absl::StrCat(trial.revision()));
    EXPECT_EQ(cell("values[0]"), trial.values_size() > 0
                                     ? Cell(absl::StrCat(trial.values(0)))
                                     : Cell());
    EXPECT_EQ(cell("metrics.accuracy"), cell("values[0]"));
    for (const v1::ModuleRate& rate : trial.rates()) {
      EXPECT_EQ(cell(absl::StrCat("rates.", rate.module())),
                absl::StrCat(rate.rate()));
    }
    for (const v1::ParameterValue& value : trial.parameters()) {
      EXPECT_EQ(cell(absl::StrCat("parameters.", value.name())),
                absl::StrCat(value.value().number_value()));
    }
    // What it does not say is no 0.
    const double seconds = trial.usage().train_seconds();
    EXPECT_EQ(cell("usage.train_seconds"),
              seconds > 0 ? Cell(absl::StrCat(seconds)) : Cell());
  }
}

TEST_F(TrialTableTest, ALevelCostsAByteATrial) {
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       Ask({"rates.layer.0", "rates.layer.1"}));
  ASSERT_EQ(reply.table().columns_size(), 2);
  EXPECT_THAT(reply.table().columns(0).codes().codes(), SizeIs(kTrials));
  EXPECT_EQ(reply.table().columns(0).codes().entries_size(), 3);
  EXPECT_LT(reply.ByteSizeLong(), 2 * kTrials + 150u);
}

TEST_F(TrialTableTest, PagesJoinAndAreOfOneRevision) {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> revisions;
  std::string token;
  do {
    ASSERT_OK_AND_ASSIGN(const auto page, Ask({"number"}, 100, token));
    ASSERT_EQ(page.table().columns_size(), 1);
    const auto& cells = page.table().columns(0).integers().values();
    numbers.insert(numbers.end(), cells.begin(), cells.end());
    revisions.push_back(page.table().revision());
    token = page.next_page_token();
    Label(0, absl::StrCat("changed", numbers.size()));
  } while (!token.empty());
  ASSERT_THAT(numbers, SizeIs(kTrials));
  for (int i = 0; i < kTrials; ++i) {
    EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
  }
  ASSERT_THAT(revisions, SizeIs(3));
  EXPECT_THAT(revisions, ElementsAre(revisions[0], revisions[0], revisions[0]));
}

TEST_F(TrialTableTest, ATokenIsOfOneQuestion) {
  ASSERT_OK_AND_ASSIGN(const auto page, Ask({"number"}, 100));
  const std::string token = page.next_page_token();
  for (const std::string& wrong :
       {token.substr(token.find('-') + 1), absl::StrCat("9", token),
        token + "0x", std::string("x-y-1"), std::string("-")}) {
    EXPECT_THAT(Ask({"number"}, 100, wrong),
                FailsWith(ErrorId::kPageTokenInvalid))
        << wrong;
  }
  EXPECT_THAT(Ask({"state"}, 100, token),
              FailsWith(ErrorId::kPageTokenInvalid));
  EXPECT_OK(Ask({"number"}, 7, token));
}

TEST_F(TrialTableTest, FiltersAndTakesOnlyWhatChanged) {
  ASSERT_OK_AND_ASSIGN(const auto failed,
                       Ask({"number", "state"}, 0, "", "state = FAILED"));
  EXPECT_EQ(failed.table().rows(), kTrials / 7);
  const std::int64_t before = failed.table().revision();
  Label(5, "new");
  ASSERT_OK_AND_ASSIGN(const auto changed,
                       Ask({"number", "labels.kind"}, 0, "", "", before));
  ASSERT_EQ(changed.table().rows(), 1);
  EXPECT_EQ(CellAt(changed.table().columns(0), 0), "5");
  EXPECT_EQ(CellAt(changed.table().columns(1), 0), "new");
}

TEST_F(TrialTableTest, RefusesAColumnThatThereIsNot) {
  for (const char* const name :
       {"numbers", "values[1]", "rates.layer.2", "parameters.x", "usage.model",
        "usage.", "labels.", "", "rates."}) {
    EXPECT_THAT(Ask({"number", name}),
                FailsAt(ErrorId::kRequestInvalid, "columns"))
        << name;
  }
  EXPECT_OK(Ask({"metrics.f1", "labels.nobody", "usage.steps", "note"}));
}

TEST_F(TrialTableTest, ADeltaHasEachChangeOnceAndThenNothing) {
  ASSERT_OK_AND_ASSIGN(const auto all, Delta(0, 1000));
  EXPECT_EQ(all.trials_size(), kTrials);
  EXPECT_FALSE(all.more());
  EXPECT_EQ(all.study().name(), "studies/a");
  EXPECT_EQ(all.study().revision(), all.revision());
  ASSERT_OK_AND_ASSIGN(const auto nothing, Delta(all.revision()));
  EXPECT_EQ(nothing.revision(), all.revision());
  EXPECT_EQ(nothing.trials_size(), 0);
  EXPECT_FALSE(nothing.has_study());
  EXPECT_FALSE(nothing.more());
  Label(7, "new");
  ASSERT_OK_AND_ASSIGN(const auto one, Delta(all.revision()));
  ASSERT_EQ(one.trials_size(), 1);
  EXPECT_EQ(one.trials(0).labels().at("kind"), "new");
  EXPECT_GT(one.trials(0).rates_size(), 0) << "as the view says";
  EXPECT_GT(one.revision(), all.revision());
  EXPECT_TRUE(one.has_study());
}

TEST_F(TrialTableTest, ADeltaSaysWhereThereIsMore) {
  std::set<std::int64_t> seen;
  v1::StudyDelta delta;
  int asked = 0;
  do {
    ASSERT_OK_AND_ASSIGN(delta, Delta(delta.revision(), 90));
    EXPECT_EQ(delta.more(), !delta.has_study());
    for (const v1::Trial& trial : delta.trials()) {
      EXPECT_TRUE(seen.insert(trial.number()).second);
    }
  } while (delta.more() && ++asked < 10);
  EXPECT_THAT(seen, SizeIs(kTrials));
  EXPECT_THAT(Delta(delta.revision() + 1), FailsWith(ErrorId::kHistoryGone));
}

TEST_F(TrialTableTest, ADeltaMayWaitForNews) {
  ASSERT_OK_AND_ASSIGN(const auto all, Delta(0, 1000));
  v1::GetStudyDeltaRequest request;
  request.set_name("studies/a");
  request.set_after_revision(all.revision());
  request.mutable_wait()->set_seconds(20);
  auto waiting = driver_->Start<v1::StudyDelta>(request);
  Label(9, "new");
  const auto delta = waiting.get();
  ASSERT_OK(delta);
  ASSERT_EQ(delta->trials_size(), 1);
  EXPECT_EQ(delta->trials(0).number(), 9);
}

}  // namespace
}  // namespace frostline::server

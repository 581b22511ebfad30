// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gmock/gmock.h"
#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/token_store.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

using BatchLengths = std::vector<std::uint32_t>;

// Like sentences: most short, a few long.
BatchLengths Sentences(std::size_t count) {
  BatchLengths lengths;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto draw = static_cast<std::uint32_t>(DrawOf(1, 2, i) % 1000);
    lengths.push_back(5 + draw * draw / 8000);
  }
  return lengths;
}

std::vector<std::uint32_t> SortedRows(const std::vector<RowBatch>& batches) {
  std::vector<std::uint32_t> rows;
  for (const RowBatch& batch : batches) {
    rows.insert(rows.end(), batch.begin(), batch.end());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::uint64_t Area(const RowBatch& batch, const BatchLengths& lengths) {
  std::uint32_t longest = 0;
  for (const auto row : batch) longest = std::max(longest, lengths[row]);
  return std::uint64_t{longest} * batch.size();
}

TEST(Batches, EveryRowOnceAnEpoch) {
  const BatchLengths lengths = Sentences(1003);
  for (const bool bucket : {false, true}) {
    for (const std::size_t tokens : {0u, 400u}) {
      const BatchPlanner planner(
          lengths,
          {.batch_size = 16, .batch_tokens = tokens, .bucket = bucket});
      const auto rows = SortedRows(planner.Epoch(3));
      ASSERT_THAT(rows, SizeIs(1003));
      for (std::uint32_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], i);
      EXPECT_EQ(SortedRows(planner.Ordered()), rows);
    }
  }
}

TEST(Batches, OnlyOneIsNotFull) {
  const BatchPlanner planner(Sentences(1003), {.batch_size = 16});
  std::size_t full = 0;
  for (const RowBatch& batch : planner.Epoch(0)) full += batch.size() == 16;
  EXPECT_EQ(full, 62U);
  EXPECT_EQ(planner.Epoch(0).size(), 63U);
  EXPECT_EQ(planner.BatchesOf(3), 189U);
}

TEST(Batches, EpochsDifferAndRepeat) {
  const BatchPlanner planner(Sentences(200), {.batch_size = 8, .seed = 5});
  const BatchPlanner again(Sentences(200), {.batch_size = 8, .seed = 5});
  const BatchPlanner other(Sentences(200), {.batch_size = 8, .seed = 6});
  EXPECT_EQ(planner.Epoch(2), again.Epoch(2));
  EXPECT_NE(planner.Epoch(2), planner.Epoch(1));
  EXPECT_NE(planner.Epoch(2), other.Epoch(2));
}

// The order that every release must give, or resumed runs stop repeating.
TEST(Batches, AreTheSameOnEveryMachine) {
  const BatchPlanner planner({3, 9, 4, 4, 7, 2}, {.batch_size = 2, .seed = 1});
  EXPECT_THAT(
      planner.Epoch(0),
      ElementsAre(ElementsAre(1, 4), ElementsAre(0, 5), ElementsAre(2, 3)));
}

TEST(Batches, BucketsSavePadding) {
  const BatchLengths lengths = Sentences(5000);
  std::uint64_t tokens = 0;
  for (const auto length : lengths) tokens += length;
  const auto padded = [&](bool bucket) {
    std::uint64_t area = 0;
    const BatchPlanner planner(lengths, {.batch_size = 32, .bucket = bucket});
    for (const RowBatch& batch : planner.Epoch(0)) area += Area(batch, lengths);
    return static_cast<double>(area) / static_cast<double>(tokens);
  };
  EXPECT_LT(padded(true), 1.1);
  EXPECT_GT(padded(false), 2.0);
}

TEST(Batches, KeepToTheTokenBudget) {
  const BatchLengths lengths = Sentences(3000);
  for (const bool bucket : {false, true}) {
    const BatchPlanner planner(lengths,
                               {.batch_tokens = 512, .bucket = bucket});
    for (const RowBatch& batch : planner.Epoch(1)) {
      EXPECT_LE(Area(batch, lengths), 512U);
    }
  }
}

TEST(Batches, ARowBeyondTheBudgetStandsAlone) {
  const BatchPlanner planner({10, 900, 10}, {.batch_tokens = 100});
  const auto batches = planner.Epoch(0);
  ASSERT_THAT(batches, SizeIs(2));
  EXPECT_THAT(batches[0], ElementsAre(1));
  EXPECT_THAT(batches[1], SizeIs(2));
}

TEST(Batches, TheLongestComesFirst) {
  const BatchLengths lengths = Sentences(2000);
  const auto longest = static_cast<std::uint32_t>(
      std::max_element(lengths.begin(), lengths.end()) - lengths.begin());
  const BatchPlanner planner(lengths, {.batch_size = 16});
  EXPECT_EQ(lengths[planner.Epoch(4)[0][0]], lengths[longest]);
}

TEST(Batches, StepsAreCountedUnderATokenBudget) {
  const BatchPlanner planner(Sentences(500), {.batch_tokens = 300});
  EXPECT_EQ(planner.BatchesOf(2),
            planner.Epoch(0).size() + planner.Epoch(1).size());
}

TEST(BatchCursor, GoesOnWhereItStood) {
  const BatchPlanner planner(Sentences(50), {.batch_size = 8, .seed = 3});
  BatchCursor whole(planner, {});
  std::vector<RowBatch> all;
  for (int i = 0; i < 20; ++i) {
    if (i == 9) {
      EXPECT_EQ(whole.position(), (BatchPosition{1, 2}));
    }
    all.push_back(whole.Next());
  }
  BatchCursor resumed(planner, {1, 2});
  for (std::size_t i = 9; i < 20; ++i) EXPECT_EQ(resumed.Next(), all[i]);
  EXPECT_EQ(resumed.position(), whole.position());
}

TEST(BatchCursor, AtTheEndOfAnEpochBeginsTheNext) {
  const BatchPlanner planner(Sentences(16), {.batch_size = 8});
  BatchCursor cursor(planner, {0, 2});
  EXPECT_EQ(cursor.Next(), planner.Epoch(1)[0]);
}

class TokenStoreTest : public ::testing::Test {
 protected:
  TokenStoreTest()
      : tokenizer_(ReadVocabTxt(
                       "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\nc\n", {})
                       .value()) {}

  TokenStore Store(TaskKind task, std::string_view bytes,
                   const FileFormat& format, const ColumnMap& columns,
                   std::size_t max_length = 0) {
    data_.push_back(
        folder_.Read(DatasetReader(task), bytes, format, columns).value());
    return Tokenize(data_.back(), data_.back().AllRows(), tokenizer_,
                    {.max_length = max_length})
        .value();
  }

  DataFolder folder_;
  Tokenizer tokenizer_;
  std::vector<Dataset> data_;
};

TEST_F(TokenStoreTest, PadsToTheLongestOfTheBatch) {
  const TokenStore store =
      Store(TaskKind::kClassification,
            "text\tlabel\na b c\tx\na\ty\na b c a b c\ty\n", Tsv(), {});
  EXPECT_THAT(store.Lengths(), ElementsAre(5, 3, 8));
  PaddedBatch batch;
  store.Pad(std::vector<std::uint32_t>{1, 0}, {.pad_id = 9}, batch);
  EXPECT_EQ(batch.width, 5U);
  EXPECT_THAT(batch.ids, ElementsAre(2, 5, 3, 9, 9, 2, 5, 6, 8, 3));
  EXPECT_THAT(batch.mask, ElementsAre(1, 1, 1, 0, 0, 1, 1, 1, 1, 1));
  EXPECT_THAT(batch.labels, ElementsAre(1, 0));
}

TEST_F(TokenStoreTest, NoRowIsEncodedOnceAStopIsRaised) {
  const Dataset data =
      folder_
          .Read(DatasetReader(TaskKind::kClassification),
                "text\tlabel\na\tx\nb\ty\nc\ty\na b\tx\n", Tsv(), {})
          .value();
  int asked = 0;
  int rows = 4;
  const StopSign stop([&] { return asked++ == rows; });
  const auto make = [&] {
    asked = 0;
    return Tokenize(data, data.AllRows(), tokenizer_, {}, PairForm::kJoined,
                    stop);
  };
  EXPECT_EQ(make().value().size(), 4U);
  EXPECT_EQ(asked, 4);
  for (rows = 0; rows < 4; ++rows) {
    EXPECT_THAT(FaultOf(make()), IsFault(FaultKind::kStopped, "a stop came"));
    EXPECT_EQ(asked, rows + 1);
  }
}

TEST_F(TokenStoreTest, WidthsRoundUpButNotBeyondTheModel) {
  const TokenStore store =
      Store(TaskKind::kClassification, "text\tlabel\na b c\tx\n", Tsv(), {});
  PaddedBatch batch;
  store.Pad(std::vector<std::uint32_t>{0}, {.multiple = 8}, batch);
  EXPECT_EQ(batch.width, 8U);
  store.Pad(std::vector<std::uint32_t>{0}, {.multiple = 8, .max_width = 6},
            batch);
  EXPECT_EQ(batch.width, 6U);
}

TEST_F(TokenStoreTest, PairsHaveTypes) {
  const TokenStore store =
      Store(TaskKind::kRegression, "t\ts\tlabel\na\tb\t2.5\n", Tsv(),
            {{"text", "t"}, {"second", "s"}});
  PaddedBatch batch;
  store.Pad(std::vector<std::uint32_t>{0}, {}, batch);
  EXPECT_THAT(batch.ids, ElementsAre(2, 5, 3, 6, 3));
  EXPECT_THAT(batch.types, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(batch.targets, ElementsAre(2.5F));
}

TEST_F(TokenStoreTest, PairsApartAreFirstTextsThenSecondOnes) {
  const Dataset data =
      folder_
          .Read(DatasetReader(TaskKind::kRegression),
                "t\ts\tlabel\tw\na\tb b\t2.5\t3\nc\ta\t1\t4\n", Tsv(),
                {{"text", "t"}, {"second", "s"}, {"weight", "w"}})
          .value();
  const TokenStore store = Tokenize(data, std::vector<std::uint32_t>{1, 0},
                                    tokenizer_, {}, PairForm::kApart)
                               .value();
  ASSERT_EQ(store.size(), 4U);
  EXPECT_THAT(store.Lengths(), ElementsAre(3, 3, 3, 4));
  PaddedBatch batch;
  store.Pad(std::vector<std::uint32_t>{0, 1, 2, 3}, {}, batch);
  EXPECT_THAT(batch.ids, ElementsAre(2, 8, 3, 0, 2, 5, 3, 0,    // c, a
                                     2, 5, 3, 0, 2, 6, 6, 3));  // a, b b
  EXPECT_THAT(batch.types, Each(0));
  EXPECT_THAT(batch.targets, ElementsAre(1, 2.5F, 1, 2.5F));
  EXPECT_THAT(batch.weights, ElementsAre(4, 3, 4, 3));
}

TEST_F(TokenStoreTest, LabelsOfPairsApartAreOnBothHalves) {
  const Dataset data = folder_
                           .Read(DatasetReader(TaskKind::kClassification),
                                 "t\ts\tlabel\na\tb\tx\nc\ta\ty\n", Tsv(),
                                 {{"text", "t"}, {"second", "s"}})
                           .value();
  const TokenStore store =
      Tokenize(data, data.AllRows(), tokenizer_, {}, PairForm::kApart).value();
  PaddedBatch batch;
  store.Pad(std::vector<std::uint32_t>{0, 1, 2, 3}, {}, batch);
  EXPECT_THAT(batch.labels, ElementsAre(0, 1, 0, 1));
}

TEST_F(TokenStoreTest, SingleTextsCannotBeReadApart) {
  const Dataset data = folder_
                           .Read(DatasetReader(TaskKind::kClassification),
                                 "text\tlabel\na\tx\n", Tsv(), {})
                           .value();
  EXPECT_THAT(
      FaultOf(Tokenize(data, data.AllRows(), tokenizer_, {}, PairForm::kApart)),
      IsFault(FaultKind::kMisuse, "no second one"));
}

TEST_F(TokenStoreTest, AWordsFirstTokenHasItsLabel) {
  const TokenStore store =
      Store(TaskKind::kTagging,
            "{\"words\": [\"ab\", \"c\"], \"tags\": [\"X\", \"Y\"]}\n"
            "{\"words\": [\"c\"], \"tags\": [\"Y\"]}\n",
            Jsonl(), {});
  PaddedBatch batch;
  store.Pad(std::vector<std::uint32_t>{0, 1}, {}, batch);
  EXPECT_THAT(batch.ids, ElementsAre(2, 5, 7, 8, 3, 2, 8, 3, 0, 0));
  EXPECT_THAT(batch.labels, ElementsAre(-100, 0, -100, 1, -100,  //
                                        -100, 1, -100, -100, -100));
}

TEST_F(TokenStoreTest, AMillionCharactersAreCut) {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += "a ";
  const TokenStore store =
      Store(TaskKind::kClassification, "text\tlabel\n" + text + "\tx\n", Tsv(),
            {}, 512);
  EXPECT_THAT(store.Lengths(), ElementsAre(512));
}

TEST_F(TokenStoreTest, UnlabelledRowsAreIgnoredByLosses) {
  DatasetReader reader(TaskKind::kClassification);
  const Dataset data =
      folder_.Read(reader.WithoutLabels(), "text\na\n", Tsv(), {}).value();
  const TokenStore store =
      Tokenize(data, data.AllRows(), tokenizer_, {}).value();
  PaddedBatch batch;
  store.Pad(std::vector<std::uint32_t>{0}, {}, batch);
  EXPECT_THAT(batch.labels, ElementsAre(-100));
}

TEST_F(TokenStoreTest, WordsThatAreCutOffAreRemembered) {
  const std::string_view rows =
      "{\"words\": [\"a\", \"b\", \"c\", \"ab\"],"
      " \"tags\": [\"X\", \"Y\", \"X\", \"Z\"]}\n"
      "{\"words\": [\"c\"], \"tags\": [\"Y\"]}\n";
  const FileFormat jsonl = {.kind = FileFormat::Kind::kJsonl};
  const TokenStore cut = Store(TaskKind::kTagging, rows, jsonl, {}, 4);
  ASSERT_EQ(cut.unread(0).size(), 2U);
  EXPECT_EQ(cut.unread(0)[0].place, 2U);
  EXPECT_EQ(cut.unread(0)[0].label, 0);  // X
  EXPECT_EQ(cut.unread(0)[1].place, 3U);
  EXPECT_EQ(cut.unread(0)[1].label, 2);  // Z
  EXPECT_TRUE(cut.unread(1).empty());
  EXPECT_EQ(cut.word_total(), 5U);
  EXPECT_EQ(Store(TaskKind::kTagging, rows, jsonl, {}).unread_total(), 0U);
}

}  // namespace
}  // namespace frostline::trainer

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundary_maker.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/worker/trainer/data/data_fixture.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/text/vocab_files.h"

namespace frostline::trainer {
namespace {

using Boundary = std::vector<float>;

// 41 texts of five tokens each.
TokenStore TextsOfOneLength() {
  DataFolder folder;
  std::string rows = "text\tlabel\n";
  for (int i = 0; i < 41; ++i) {
    rows += std::string(1, static_cast<char>('a' + i % 5)) + " " +
            static_cast<char>('a' + i / 5 % 5) + " " +
            static_cast<char>('a' + i / 25) + "\tx\n";
  }
  const Dataset data =
      folder.Read(DatasetReader(TaskKind::kClassification), rows, Tsv(), {})
          .value();
  const Tokenizer tokenizer(
      ReadVocabTxt("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\n", {})
          .value());
  return Tokenize(data, data.AllRows(), tokenizer, {}).value();
}

class BoundaryMakerOf : public ::testing::TestWithParam<std::int64_t> {
 protected:
  BoundaryMakerOf() : loaded_(LoadFixture("models/bert-seq2")) {}

  std::map<std::uint32_t, Boundary> Make(
      const std::vector<std::uint32_t>& rows) {
    BoundaryMaker maker(loaded_.model, GetParam(), Precision::kFp32);
    std::map<std::uint32_t, Boundary> made;
    const auto take =
        [&](std::uint32_t row, std::span<const float> boundary,
            const BoundaryMaker::Origin& /*origin*/) -> Expected<Done> {
      made[row] = Boundary(boundary.begin(), boundary.end());
      return Done{};
    };
    EXPECT_TRUE(maker.Make(tokens_, rows, nullptr, take).ok());
    return made;
  }

  LoadedModel loaded_;
  TokenStore tokens_ = TextsOfOneLength();
};

TEST_P(BoundaryMakerOf, ATextHasTheSameBitsInAnyCompany) {
  std::vector<std::uint32_t> rows(tokens_.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const std::map<std::uint32_t, Boundary> together = Make(rows);
  ASSERT_EQ(together.size(), rows.size());
  for (const std::size_t some : {1U, 2U, 3U, 7U, 40U}) {
    const std::vector<std::uint32_t> last(rows.rbegin(), rows.rbegin() + some);
    const std::map<std::uint32_t, Boundary> made = Make(last);
    ASSERT_EQ(made.size(), some);
    for (const auto& [row, boundary] : made) {
      EXPECT_EQ(boundary, together.at(row)) << row << " of " << some;
    }
  }
}

// One text of each batch opens it; all do where they are computed one by one.
TEST_P(BoundaryMakerOf, SaysWhichTextOpensABatch) {
  std::vector<std::uint32_t> rows(tokens_.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  KnownCompanies known;
  BoundaryMaker maker(loaded_.model, GetParam(), Precision::kFp32, {}, &known);
  std::vector<bool> opens;
  const auto take = [&](std::uint32_t, std::span<const float>,
                        const BoundaryMaker::Origin& origin) -> Expected<Done> {
    opens.push_back(origin.opens_batch);
    return Done{};
  };
  ASSERT_TRUE(maker.Make(tokens_, rows, nullptr, take).ok());
  const auto batches = std::ranges::count(opens, true);
  EXPECT_TRUE(opens.front());
  ASSERT_EQ(known.size(), 1U);
  if (known.begin()->second.alone) {
    EXPECT_EQ(batches, 41);
  } else {
    EXPECT_LT(batches, 41);  // of 51 texts at most
  }
}

// The embeddings and one layer, all layers, and the top one for one token.
INSTANTIATE_TEST_SUITE_P(Blocks, BoundaryMakerOf, ::testing::Values(2, 3, 4));

}  // namespace
}  // namespace frostline::trainer

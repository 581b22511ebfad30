// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/boundary_needs.h"

#include "absl/strings/str_cat.h"
#include "tests/worker/registry/registry_fixture.h"

namespace frostline::registry {
namespace {

class BoundaryNeedsTest : public RegistryTest {
 protected:
  BoundaryNeedsTest() {
    NewDataSet set;
    set.path = Write("a.csv", Rows(40));
    set.validation = Write("v.csv", Rows(5));
    EXPECT_OK(Add(set).status());
    EXPECT_OK(AddText("b.csv", Rows(20)).status());
    EXPECT_OK(AddModel(registry(), {WriteModel("m"), ""}).status());
    use_.study.model = "m";
    use_.study.data = "a";
  }
  static std::string Rows(int count) {
    std::string text = "text,label\n";
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&text, "w", i, " w1,", i % 2 == 0 ? "x" : "y", "\n");
    }
    return text;
  }
  BoundaryNeeds Needs() const {
    return BoundaryNeedsOf(ReadRegistry(registry()).value(), use_).value();
  }

  BoundaryUse use_;
};

TEST_F(BoundaryNeedsTest, ABoundaryIsTokensTimesNumbersForEveryText) {
  use_.max_length = 8;
  const BoundaryNeeds needs = Needs();
  EXPECT_EQ(needs.texts, 45);
  EXPECT_EQ(needs.layers, 3);
  EXPECT_GT(needs.hidden, 0);
  EXPECT_EQ(needs.BytesAt(2), 45 * 8 * needs.hidden * 4);
  EXPECT_EQ(needs.BytesAt(3), 45 * needs.hidden * 4);  // the first token
  use_.reads_apart = use_.reads_all = true;
  EXPECT_EQ(Needs().BytesAt(3), 90 * 8 * needs.hidden * 4);
}

TEST_F(BoundaryNeedsTest, NoTextIsLongerThanTheStudyOrTheModelLets) {
  use_.max_length = 0;
  const std::int64_t usual = Needs().tokens;
  EXPECT_LE(usual, 128);
  use_.max_length = 1'000'000;
  EXPECT_GE(Needs().tokens, usual);
  EXPECT_LT(Needs().tokens, 1'000'000);
}

TEST_F(BoundaryNeedsTest, WhatIsSampledOrHeldOutOrOnlyEvaluatedCountsSo) {
  use_.train_rows = 10;
  EXPECT_EQ(Needs().texts, 15);
  use_.evaluates_only = true;
  EXPECT_EQ(Needs().texts, 5);
  use_.study.also_evaluate = {"b"};
  EXPECT_EQ(Needs().texts, 5);  // it has neither test nor validation
  use_.study.also_evaluate.clear();
  use_.study.data = "b";
  EXPECT_EQ(Needs().texts, 2);
  use_.evaluates_only = false;
  use_.train_rows = 0;
  EXPECT_EQ(Needs().texts, 20);
  use_.train_share = 0.5;
  use_.validation_share = 0.2;
  EXPECT_EQ(Needs().texts, 4 + 8);
}

}  // namespace
}  // namespace frostline::registry

// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cli/view/study_view.h"
#include "frostline/v1/study.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;

class FieldChangesTest : public ::testing::Test {
 protected:
  FieldChangesTest() {
    from_.set_seed(1);
    from_.mutable_training()->set_epochs(3);
    for (const char* const select : {"head", "layer.0"}) {
      v1::ModuleSpace& module = *from_.mutable_space()->add_modules();
      module.set_select(select);
      module.mutable_levels()->add_rates(0);
      module.mutable_levels()->add_rates(2e-5);
    }
    to_ = from_;
  }
  std::string Text() const {
    return RenderFieldChanges(FieldChanges(from_, to_));
  }

  v1::StudySpec from_;
  v1::StudySpec to_;
};

TEST_F(FieldChangesTest, OfEqualMessagesThereIsNone) { EXPECT_EQ(Text(), ""); }

TEST_F(FieldChangesTest, AnotherOrderIsNoChange) {
  to_.mutable_space()->mutable_modules()->SwapElements(0, 1);
  EXPECT_EQ(Text(), "");
}

TEST_F(FieldChangesTest, NamesPathOldAndNew) {
  to_.mutable_training()->set_epochs(10);
  to_.mutable_space()->mutable_modules(1)->mutable_levels()->add_rates(1e-4);
  to_.set_recipe("alf");
  EXPECT_EQ(Text(),
            "recipe: - -> alf\n"
            "space.modules[layer.0].levels.rates: [0, 2e-05] -> "
            "[0, 2e-05, 1e-04]\n"
            "training.epochs: 3 -> 10\n");
}

TEST_F(FieldChangesTest, WhatIsLeftOutIsSaid) {
  to_.mutable_space()->mutable_modules()->RemoveLast();
  EXPECT_THAT(Text(), HasSubstr("space.modules[layer.0]: there -> -\n"));
}

TEST_F(FieldChangesTest, SmallDifferencesOfNumbersCount) {
  to_.mutable_space()->mutable_modules(0)->mutable_levels()->set_rates(
      1, 2.0000000000000005e-5);
  EXPECT_THAT(Text(), HasSubstr("space.modules[head].levels.rates: "));
}

}  // namespace
}  // namespace frostline::cli

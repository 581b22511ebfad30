// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include "base/plain/predictions_file.h"
#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/link/log_listener.h"

namespace frostline::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PredictionsTest : public ::testing::Test {
 protected:
  void Write(int attempt, const std::string& set, const std::string& text) {
    const std::filesystem::path path = Root() + "/trials/a/7/" +
                                       std::to_string(attempt) + "/" +
                                       PredictionsPath(set, "");
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string Root() const { return folder_.path().string(); }
  static v1::PredictionsWish Wish(std::initializer_list<int> examples) {
    v1::PredictionsWish wish;
    wish.set_id("x.1");
    wish.set_trial("studies/a/trials/7");
    wish.set_attempt(2);
    wish.set_set("test");
    wish.set_max_bytes(10);
    for (const int example : examples) wish.add_examples(example);
    return wish;
  }

  TempFolder folder_;
};

constexpr char kTexts[] =
    "label\tprediction\tconfidence\ttext\tsecond\n"
    "pos\tneg\t0.6\tgood\\tfilm\tyes\n"
    "neg\tneg\t0.9\tbad\tno\n";

TEST_F(PredictionsTest, APieceBeginsWhereItIsAskedFor) {
  Write(2, "test", kTexts);
  v1::PredictionsWish wish = Wish({});
  const auto first = AnswerWish(Root(), wish);
  EXPECT_EQ(first.wish(), "x.1");
  EXPECT_EQ(first.piece(), "label\tpred");
  EXPECT_EQ(first.size(), static_cast<std::int64_t>(sizeof(kTexts) - 1));
  EXPECT_THAT(first.path(), EndsWith("/trials/a/7/2/predictions/test.tsv"));
  wish.set_offset(first.size() - 3);
  EXPECT_EQ(AnswerWish(Root(), wish).piece(), "no\n");
  wish.set_offset(first.size() + 5);
  EXPECT_THAT(AnswerWish(Root(), wish).piece(), IsEmpty());
}

TEST_F(PredictionsTest, ExamplesAreThoseThatAreAskedForInThatOrder) {
  Write(1, "test", kTexts);  // what counts is of an earlier attempt
  const auto answer = AnswerWish(Root(), Wish({1, 0, 9}));
  ASSERT_THAT(answer.examples(), SizeIs(2));
  EXPECT_EQ(answer.examples(0).example(), 1);
  EXPECT_EQ(answer.examples(0).text(), "bad\tno");
  EXPECT_EQ(answer.examples(1).text(), "good\\tfilm\tyes");
  EXPECT_THAT(answer.piece(), IsEmpty());
}

TEST_F(PredictionsTest, AWordComesWithItsSentence) {
  Write(2, "test",
        "word\tlabel\tprediction\tconfidence\n"
        "the\tDT\tDT\t0.9\ncat\tNN\tVB\t0.4\n\n"
        "--\t\t\t\nruns\tVB\tVB\t0.8\n\n");
  const auto answer = AnswerWish(Root(), Wish({1, 2}));
  ASSERT_THAT(answer.examples(), SizeIs(2));
  EXPECT_EQ(answer.examples(0).text(), "the cat");
  EXPECT_EQ(answer.examples(0).word(), 1);
  // The mark has no label, so it is no example.
  EXPECT_EQ(answer.examples(1).text(), "-- runs");
  EXPECT_EQ(answer.examples(1).word(), 1);
}

TEST_F(PredictionsTest, ACleanedFolderSaysSo) {
  EXPECT_FALSE(HasPredictions(Root()));
  EXPECT_THAT(AnswerWish(Root(), Wish({})).gone(), HasSubstr("was cleaned"));
  Write(2, "validation", kTexts);
  EXPECT_TRUE(HasPredictions(Root()));
  EXPECT_THAT(AnswerWish(Root(), Wish({})).gone(), HasSubstr("was cleaned"));
}

TEST_F(PredictionsTest, NoNameLeadsOutOfTheFolder) {
  EXPECT_EQ(PredictionsPath("../../secret", "../x"),
            "predictions/%2E.%2Fx/%2E.%2F..%2Fsecret.tsv");
  EXPECT_EQ(EscapeColumn("a\tb\n\\"), "a\\tb\\n\\\\");
}

}  // namespace
}  // namespace frostline::agent

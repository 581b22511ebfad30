// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/conllu.h"

#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

// A line with the given id, form and tag.
std::string Line(const std::string& id, const std::string& form,
                 const std::string& upos) {
  return id + "\t" + form + "\t_\t" + upos + "\t_\t_\t0\troot\t_\t_\n";
}

std::string ConlluRows(std::string_view bytes,
                       const std::vector<std::string>& columns = {"form",
                                                                  "upos"}) {
  return DataFolder().Rows(bytes, ConlluFile(), columns);
}

TEST(Conllu, ASentenceIsARow) {
  EXPECT_EQ(ConlluRows("# sent_id = 1\n" + Line("1", "They", "PRON") +
                       Line("2", "ran", "VERB") + "\n# text = Go\n" +
                       Line("1", "Go", "VERB") + "\n"),
            "They,ran|PRON,VERB;Go|VERB");
}

TEST(Conllu, RangesAndEmptyNodesArePassedOver) {
  EXPECT_EQ(ConlluRows(Line("0.1", "zero", "X") + Line("1-2", "don't", "_") +
                       Line("1", "do", "AUX") + Line("2", "n't", "PART") +
                       Line("2.1", "go", "VERB") + Line("3", "it", "PRON")),
            "do,n't,it|AUX,PART,PRON");
}

TEST(Conllu, TheLastSentenceNeedsNoEmptyLine) {
  std::string bytes = Line("1", "Go", "VERB");
  bytes.pop_back();
  EXPECT_EQ(ConlluRows(bytes), "Go|VERB");
}

TEST(Conllu, EmptyBlocksAreNoSentences) {
  EXPECT_EQ(ConlluRows("# global.columns = ID\n\n\n" + Line("1", "a", "X") +
                       "\r\n\n\n" + Line("1", "b", "X") + "\n# end\n"),
            "a|X;b|X");
}

TEST(Conllu, AFormMayHoldBlanks) {
  EXPECT_EQ(ConlluRows(Line("1", "10 000", "NUM"), {"form"}), "10 000");
}

TEST(Conllu, EveryColumnCanBeAsked) {
  EXPECT_EQ(ConlluRows("1\ta\tb\tc\td\te\t0\tg\th\ti\n",
                       {"lemma", "xpos", "deprel", "misc", "2"}),
            "b|d|g|i|a");
  EXPECT_THAT(ConlluRows(Line("1", "a", "X"), {"pos"}),
              HasSubstr("no column 'pos'"));
}

TEST(Conllu, BrokenLinesAreNamed) {
  const std::string good = Line("1", "a", "X");
  EXPECT_THAT(ConlluRows(good + "2\tb\tX\n"),
              HasSubstr("line 2: has 3 columns"));
  EXPECT_THAT(ConlluRows("1\ta\t_\tX\t_\t_\t0\tr\t_\t_\t_\n"),
              HasSubstr("line 1: has 11 columns"));
  EXPECT_THAT(ConlluRows(good + Line("2", "", "X")),
              HasSubstr("line 2: has an empty"));
  EXPECT_THAT(ConlluRows("no tabs here\n"), HasSubstr("line 1: has 1 columns"));
}

TEST(Conllu, IdsMustFollowEachOther) {
  for (const char* id : {"3", "0", "1", "x", "-1", "2-2", "3-4", "1.0", "2.1",
                         "2-", "99999999999", "", "2.x", "+2"}) {
    EXPECT_THAT(ConlluRows(Line("1", "a", "X") + Line(id, "b", "X")),
                HasSubstr("line 2: its id"))
        << id;
  }
}

TEST(Conllu, ASentenceHasALimit) {
  const std::string word(1'000'000, 'x');
  EXPECT_THAT(ConlluRows(Line("1", word, "X") + Line("2", word, "X")),
              HasSubstr("line 2: the sentence is longer than 1 MiB"));
}

}  // namespace
}  // namespace frostline::trainer

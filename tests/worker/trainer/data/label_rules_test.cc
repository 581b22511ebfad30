// SPDX-License-Identifier: Apache-2.0
//
// Labels that go by other names, and texts in another form.
#include "worker/trainer/data/label_rules.h"

#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/text_form.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

const LabelRules kTwoOfThree = {.names = {{"2", "1"}}, .dropped = {"0"}};

TEST(LabelRules, RenameMergeAndDropOneAfterTheOther) {
  const LabelChain chain = {{.names = {{"negative", "neg"}}, .dropped = {}},
                            {.names = {{"neg", "0"}}, .dropped = {"neutral"}}};
  EXPECT_EQ(Apply(chain, "negative"), "0");
  EXPECT_EQ(Apply(chain, "neg"), "0");
  EXPECT_EQ(Apply(chain, "pos"), "pos");
  EXPECT_EQ(Apply(chain, "neutral"), std::nullopt);
  EXPECT_THAT(Apply(chain, std::vector<std::string>{"pos", "negative",
                                                    "neutral", "neg"}),
              ElementsAre("pos", "0"));
}

TEST(LabelRules, RefuseWhatIsNoRule) {
  EXPECT_THAT(FaultOf(Check({.names = {{"a", "b"}}, .dropped = {"a"}}, "s.")),
              IsFault(FaultKind::kMisuse, "s.drop_labels drops 'a'"));
  EXPECT_THAT(FaultOf(Check({.names = {{"a", ""}}, .dropped = {}}, "s.")),
              IsFault(FaultKind::kMisuse, "s.label_map gives 'a' no name"));
}

TEST(LabelRules, RowsOfADroppedLabelAreLeftOut) {
  DataFolder folder;
  DatasetReader reader(TaskKind::kClassification);
  reader.WithLabelRules({kTwoOfThree});
  const Dataset data =
      folder.Read(reader, "text\tlabel\na\t0\nb\t1\nc\t2\nd\t 0 \n", Tsv(), {})
          .value();
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data.dropped(), 2U);
  EXPECT_THAT(data.labels().names(), ElementsAre("1"));
  EXPECT_THAT(data.ruled(), ElementsAre("0", "2"));
  EXPECT_THAT(FaultOf(folder.Read(reader, "text\tlabel\na\t0\n", Tsv(), {})),
              IsFault(FaultKind::kMisuse, "all of its 1 rows"));
}

// Of words the label goes, and its neighbours stay.
TEST(LabelRules, AWordOfADroppedLabelHasNone) {
  DataFolder folder;
  DatasetReader reader(TaskKind::kTagging);
  reader.WithLabelRules({{.names = {{"B", "A"}}, .dropped = {"X"}}});
  const Dataset data =
      folder.Read(reader, R"({"words": "u v w", "tags": "B X C"})", Jsonl(), {})
          .value();
  EXPECT_THAT(data.labels().names(), ElementsAre("A", "C"));
  EXPECT_THAT(data.word_labels(0), ElementsAre(0, kNoLabel, 1));
  EXPECT_EQ(data.dropped(), 1U);
}

std::string Shaped(const TextForm& form, std::string_view text) {
  return std::string(TextShaper(form).Shape(text));
}

TEST(TextForm, IsThatOfBertsNormalizer) {
  EXPECT_EQ(Shaped({}, "Éa\tÇ"), "Éa\tÇ");
  EXPECT_EQ(Shaped({.lowercase = true}, "ÉCOLE Straße ΣΑΣ"),
            "école straße σασ");
  EXPECT_EQ(Shaped({.strip_accents = true}, "École ñ"), "Ecole n");
  EXPECT_EQ(Shaped({.lowercase = true, .strip_accents = true}, "Ünïted İ"),
            "united i");
}

TEST(TextForm, HoldsForTextsPairsAndWords) {
  DataFolder folder;
  DatasetReader texts(TaskKind::kClassification);
  texts.WithForm({.lowercase = true});
  const Dataset pairs =
      folder
          .Read(texts, "text\ts\tlabel\nOne TWO\tThREE\tYES\n", Tsv(),
                {{"second", "s"}})
          .value();
  EXPECT_EQ(pairs[0].text, "one two");
  EXPECT_EQ(pairs[0].second, "three");
  EXPECT_THAT(pairs.labels().names(), ElementsAre("YES"));  // no text
  DatasetReader words(TaskKind::kTagging);
  words.WithForm({.lowercase = true});
  const Dataset tagged =
      folder.Read(words, R"({"words": "Go HOME", "tags": "V N"})", Jsonl(), {})
          .value();
  EXPECT_THAT(tagged.words(0), ElementsAre("go", "home"));
}

}  // namespace
}  // namespace frostline::trainer

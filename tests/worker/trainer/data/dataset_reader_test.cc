// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/plain/text.h"
#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/dataset.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kClasses = TaskKind::kClassification;

class DatasetReaderTest : public ::testing::Test {
 protected:
  Expected<Dataset> Classes(std::string_view bytes) {
    return folder_.Read(DatasetReader(kClasses), bytes, Tsv(), {});
  }
  Expected<Dataset> Tags(std::string_view bytes) {
    return folder_.Read(DatasetReader(TaskKind::kTagging), bytes, Jsonl(), {});
  }

  DataFolder folder_;
};

TEST_F(DatasetReaderTest, ReadsClasses) {
  const Dataset data = Classes("text\tlabel\n b \tpos\na\tneg\n").value();
  EXPECT_THAT(data.labels().names(), ElementsAre("neg", "pos"));
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data[0].text, " b ");  // a text is kept as it is
  EXPECT_EQ(data[0].label, 1);
  EXPECT_EQ(data[1].label, 0);
  EXPECT_FALSE(data.is_pair());
}

TEST_F(DatasetReaderTest, NumbersSortAsNumbers) {
  const Dataset data = Classes("text\tlabel\na\t10\nb\t9\nc\t-1\n").value();
  EXPECT_THAT(data.labels().names(), ElementsAre("-1", "9", "10"));
}

TEST_F(DatasetReaderTest, LabelsDoNotDependOnTheOrderOfRows) {
  const Dataset one = Classes("text\tlabel\na\tx\nb\ty\n").value();
  const Dataset two = Classes("text\tlabel\nb\ty\na\tx\n").value();
  EXPECT_EQ(one.labels(), two.labels());
  EXPECT_EQ(one[0].label, two[1].label);
}

TEST_F(DatasetReaderTest, ReadsPairsAndWeights) {
  const Dataset data =
      folder_
          .Read(
              DatasetReader(kClasses), "a,b,l,w\nx,y,1,0.5\n", Csv(),
              {{"text", "a"}, {"second", "b"}, {"label", "l"}, {"weight", "w"}})
          .value();
  EXPECT_TRUE(data.is_pair());
  EXPECT_EQ(data[0].second, "y");
  EXPECT_EQ(data[0].weight, 0.5);
}

TEST_F(DatasetReaderTest, ReadsTargets) {
  const DatasetReader reader(TaskKind::kRegression);
  const Dataset data =
      folder_.Read(reader, "text\tlabel\na\t 4.25\nb\t-1e2\n", Tsv(), {})
          .value();
  EXPECT_EQ(data[0].target, 4.25);
  EXPECT_EQ(data[1].target, -100.0);
  for (const char* bad : {"x", "nan", "inf", "1e999", "1 2", "0x1"}) {
    const std::string bytes = "text\tlabel\na\t1\nb\t" + std::string(bad);
    EXPECT_THAT(FaultOf(folder_.Read(reader, bytes, Tsv(), {})),
                IsFault(FaultKind::kInconsistent, "line 3: column 'label'"));
  }
}

TEST_F(DatasetReaderTest, ReadsWordsAndTags) {
  const Dataset data =
      Tags(
          "{\"words\": [\"a\", \"b\"], \"tags\": [\"X\", \"Y\"]}\n"
          "{\"words\": \"c\", \"tags\": \"X\"}\n")
          .value();
  ASSERT_EQ(data.size(), 2U);
  EXPECT_THAT(data.words(0), ElementsAre("a", "b"));
  EXPECT_THAT(data.word_labels(0), ElementsAre(0, 1));
  EXPECT_THAT(data.words(1), ElementsAre("c"));
  EXPECT_EQ(data.word_total(), 3U);
}

TEST_F(DatasetReaderTest, EveryWordNeedsATag) {
  EXPECT_THAT(FaultOf(Tags("{\"words\": \"a b\", \"tags\": \"X\"}")),
              IsFault(FaultKind::kInconsistent, "line 1: has 2 words and 1"));
  EXPECT_THAT(FaultOf(Tags("{\"words\": \"a b\", \"tags\": \"X _\"}")),
              IsFault(FaultKind::kInconsistent, "line 1: word 2 has no tag"));
  EXPECT_THAT(FaultOf(Tags("{\"words\": [], \"tags\": []}")),
              IsFault(FaultKind::kInconsistent, "line 1: has no words"));
}

TEST_F(DatasetReaderTest, EveryRowNeedsALabel) {
  EXPECT_THAT(FaultOf(Classes("text\tlabel\na\t1\nb\t \n")),
              IsFault(FaultKind::kInconsistent, "line 3: has no label"));
  EXPECT_THAT(
      FaultOf(folder_.Read(DatasetReader(kClasses),
                           "{\"text\": \"a\", \"label\": null}", Jsonl(), {})),
      IsFault(FaultKind::kInconsistent,
              "line 1: has no label in column 'label'"));
}

TEST_F(DatasetReaderTest, RowsWithoutLabelsMayBeSkipped) {
  DatasetReader reader(kClasses);
  const Dataset data = folder_
                           .Read(reader.SkipUnlabelled(),
                                 "text\tlabel\na\t\nb\t1\nc\t \n", Tsv(), {})
                           .value();
  EXPECT_EQ(data.skipped(), 2U);
  ASSERT_EQ(data.size(), 1U);
  EXPECT_EQ(data[0].text, "b");
}

// A file of any size takes little memory: that of the rows it holds at a time.
TEST_F(DatasetReaderTest, AScanSeesEachRowAndHoldsFewAtATime) {
  std::string text = "text\tlabel\n";
  for (int i = 0; i < 5'000; ++i) {
    text += "word" + std::to_string(i) + "\t" + std::to_string(i % 3) + "\n";
  }
  std::size_t rows = 0;
  std::size_t most = 0;
  const auto look = [&](const Dataset& some) {
    EXPECT_EQ(some[0].text, "word" + std::to_string(rows));
    rows += some.size();
    most = std::max(most, some.size());
  };
  DatasetReader reader(kClasses);
  ASSERT_TRUE(reader.Scan(folder_.Open(text), Tsv(), {}, look).ok());
  EXPECT_EQ(rows, 5'000U);
  EXPECT_LE(most, 1'024U);
  // It judges as reading does, and counts rows that it no longer holds.
  rows = 0;
  reader.WithMostRows(2'000);
  const auto scanned = reader.Scan(folder_.Open(text), Tsv(), {}, look);
  ASSERT_FALSE(scanned.ok());
  EXPECT_THAT(scanned.fault().cause,
              HasSubstr("line 2002: is beyond the 2000 rows"));
  EXPECT_EQ(scanned.fault().cause,
            FaultOf(folder_.Read(reader, text, Tsv(), {})).cause);
}

TEST_F(DatasetReaderTest, SentencesWithoutATagMayBeSkipped) {
  DatasetReader reader(TaskKind::kTagging);
  const Dataset data = folder_
                           .Read(reader.SkipUnlabelled(),
                                 "{\"words\": \"a b\", \"tags\": \"X _\"}\n"
                                 "{\"words\": \"c\", \"tags\": \"X\"}\n",
                                 Jsonl(), {})
                           .value();
  ASSERT_EQ(data.size(), 1U);
  EXPECT_THAT(data.words(0), ElementsAre("c"));
}

TEST_F(DatasetReaderTest, ALabelThatTrainingLacksIsNamed) {
  const LabelSet labels = LabelSet::FromList({"0", "1"}).value();
  DatasetReader reader(kClasses);
  const auto read = folder_.Read(reader.WithLabels(labels),
                                 "text\tlabel\na\t1\nb\t2\n", Tsv(), {});
  EXPECT_THAT(FaultOf(read), IsFault(FaultKind::kInconsistent,
                                     "line 3: label '2' is unknown"));
}

TEST_F(DatasetReaderTest, GivenLabelsKeepTheirOrder) {
  const LabelSet labels = LabelSet::FromList({"pos", "neg"}).value();
  DatasetReader reader(kClasses);
  const Dataset data =
      folder_
          .Read(reader.WithLabels(labels), "text\tlabel\na\tneg\n", Tsv(), {})
          .value();
  EXPECT_EQ(data[0].label, 1);
}

TEST_F(DatasetReaderTest, ForPredictionLabelsNeedNotBeThere) {
  DatasetReader reader(kClasses);
  const Dataset data =
      folder_.Read(reader.WithoutLabels(), "id\ttext\n1\ta\n", Tsv(), {})
          .value();
  EXPECT_FALSE(data.labelled());
  EXPECT_EQ(data[0].label, kNoLabel);
}

TEST_F(DatasetReaderTest, TenThousandLabelsAreEnough) {
  std::string bytes = "text\tlabel\n";
  for (int i = 0; i < 10'000; ++i) bytes += "a\t" + std::to_string(i) + "\n";
  EXPECT_EQ(Classes(bytes).value().labels().size(), 10'000U);
  EXPECT_THAT(FaultOf(Classes(bytes + "a\tx\n")),
              IsFault(FaultKind::kTooLarge, "line 10002: brings label"));
  EXPECT_THAT(FaultOf(Classes("text\tlabel\na\t" + std::string(257, 'x'))),
              IsFault(FaultKind::kTooLarge, "more than 256 bytes"));
}

TEST_F(DatasetReaderTest, ASplitWithoutRowsIsAFault) {
  EXPECT_THAT(FaultOf(Classes("text\tlabel\n")),
              IsFault(FaultKind::kInconsistent, "has no rows"));
  EXPECT_THAT(FaultOf(Tags("\n\n")),
              IsFault(FaultKind::kInconsistent, "has no rows"));
}

TEST_F(DatasetReaderTest, ARowTooManyIsAFault) {
  DatasetReader reader(kClasses);
  reader.WithMostRows(2);
  const std::string two = "text\tlabel\na\t1\nb\t0\n";
  EXPECT_TRUE(folder_.Read(reader, two, Tsv(), {}).ok());
  EXPECT_THAT(FaultOf(folder_.Read(reader, two + "c\t1\n", Tsv(), {})),
              IsFault(FaultKind::kTooLarge, "line 4: is beyond the 2 rows"));
}

TEST_F(DatasetReaderTest, RolesOfOtherTasksAreRefused) {
  const auto read =
      folder_.Read(DatasetReader(kClasses), "a\n", Tsv(), {{"words", "a"}});
  EXPECT_THAT(FaultOf(read), IsFault(FaultKind::kMisuse, "no role 'words'"));
  EXPECT_THAT(read.fault().fix, HasSubstr("text, second, label, weight"));
}

TEST_F(DatasetReaderTest, AWeightIsANumber) {
  const auto read =
      folder_.Read(DatasetReader(kClasses), "text\tlabel\tw\na\t1\t-1\n", Tsv(),
                   {{"weight", "w"}});
  EXPECT_THAT(FaultOf(read), IsFault(FaultKind::kInconsistent, "is no weight"));
}

TEST_F(DatasetReaderTest, FaultsNeverCutACharacter) {
  std::string label;
  for (int i = 0; i < 60; ++i) label += "\xC3\xA9";
  const LabelSet labels = LabelSet::FromList({"x" + label}).value();
  DatasetReader reader(kClasses);
  const Fault fault = FaultOf(folder_.Read(
      reader.WithLabels(labels), "text\tlabel\na\t" + label, Tsv(), {}));
  EXPECT_TRUE(IsValidUtf8(fault.cause));
}

TEST_F(DatasetReaderTest, AFingerprintIsOfTheRowsAlone) {
  const auto print = [&](std::string_view bytes, const FileFormat& format) {
    const Dataset data =
        folder_.Read(DatasetReader(kClasses), bytes, format, {}).value();
    return Fingerprint(data, data.AllRows());
  };
  const std::string tsv = print("text\tlabel\na\t1\nb\t0\n", Tsv());
  EXPECT_EQ(tsv.size(), 64U);
  EXPECT_EQ(print("label,text,id\n1,a,7\n0,b,8\n", Csv()), tsv);
  EXPECT_NE(print("text\tlabel\nb\t0\na\t1\n", Tsv()), tsv);
  EXPECT_NE(print("text\tlabel\na\t0\nb\t1\n", Tsv()), tsv);
  EXPECT_NE(print("text\tlabel\nab\t1\nb\t0\n", Tsv()), tsv);
}

TEST_F(DatasetReaderTest, FingerprintsOfPartsDiffer) {
  const Dataset data = Classes("text\tlabel\na\t1\nb\t0\n").value();
  const std::vector<std::uint32_t> first = {0};
  EXPECT_NE(Fingerprint(data, first), Fingerprint(data, data.AllRows()));
}

}  // namespace

// Labels that go by other names, and texts in another form.

namespace {

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

// A dropped word loses its label; its neighbours keep theirs.
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

// Files that somebody broke: each is read, or is one fault that names the
// file. Every fault can travel in JSON.

using namespace std::string_literals;

struct Sample {
  TaskKind task;
  FileFormat format;
  std::string bytes;
};

std::vector<Sample> Samples() {
  return {
      {TaskKind::kClassification, Tsv(),
       "text\tlabel\r\n\"a b\t1\nc\xC3\xA9\t0\n"},
      {TaskKind::kRegression, Csv(),
       "text,label\n\"a, \"\"b\"\"\",1.5\n\"c\nd\",-2e3\n"},
      {TaskKind::kTagging, Jsonl(),
       "{\"words\": [\"a\", \"\\u00e9\"], \"tags\": \"X Y\"}\n"},
      {TaskKind::kTagging, ConlluFile(),
       "# c\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"
       "1\ta\t_\tX\t_\t_\t0\tr\t_\t_\n2\tb\t_\tY\t_\t_\t1\td\t_\t_\n\n"},
  };
}

class Hostile : public ::testing::TestWithParam<std::size_t> {
 protected:
  // Whether it was read.
  bool Check(const Sample& sample, std::string_view bytes) {
    const Expected<Dataset> read =
        folder_.Read(DatasetReader(sample.task), bytes, sample.format, {});
    if (read.ok()) {
      EXPECT_GT(read.value().size(), 0U);
      EXPECT_EQ(Fingerprint(read.value(), read.value().AllRows()).size(), 64U);
      return true;
    }
    const Fault& fault = read.fault();
    EXPECT_NE(fault.cause.find("file"), std::string::npos) << fault.cause;
    EXPECT_FALSE(fault.fix.empty()) << fault.cause;
    EXPECT_TRUE(IsValidUtf8(fault.cause + fault.fix)) << fault.cause;
    return false;
  }

  DataFolder folder_;
};

TEST_P(Hostile, AnyByteMayBeAnother) {
  const Sample sample = Samples()[GetParam()];
  ASSERT_TRUE(Check(sample, sample.bytes));
  const std::string bytes = "\0\t\n\r\"\\,_ {}[]:-.9\x80\xC3\xFF"s;
  int refused = 0;
  for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
    for (const char byte : bytes) {
      std::string broken = sample.bytes;
      broken[at] = byte;
      if (!Check(sample, broken)) ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_P(Hostile, AFileMayEndAnywhere) {
  const Sample sample = Samples()[GetParam()];
  for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
    (void)Check(sample, std::string_view(sample.bytes).substr(0, size));
  }
}

TEST_P(Hostile, LinesMayBeMissingOrTwice) {
  const Sample sample = Samples()[GetParam()];
  const std::size_t end = sample.bytes.find('\n') + 1;
  (void)Check(sample, std::string_view(sample.bytes).substr(end));
  (void)Check(sample, sample.bytes + sample.bytes);
}

INSTANTIATE_TEST_SUITE_P(EveryFormat, Hostile,
                         ::testing::Range<std::size_t>(0, 4));

TEST_F(DatasetReaderTest, ReadsPromptsAndAnswersAsTheyAre) {
  const Dataset data =
      folder_
          .Read(DatasetReader(TaskKind::kAnswers),
                "{\"prompt\": \"The sky is\", \"answer\": \" blue\"}\n",
                Jsonl(), {})
          .value();
  EXPECT_EQ(data[0].text, "The sky is");
  EXPECT_EQ(data[0].second, " blue");
  EXPECT_FALSE(data.is_pair());
  EXPECT_EQ(data.labels().size(), 0U);
}

TEST_F(DatasetReaderTest, AnAnswerOfNothingIsNamedByItsLine) {
  const auto read = folder_.Read(DatasetReader(TaskKind::kAnswers),
                                 "prompt,answer\nq,a\nr,  \n", Csv(), {});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.fault().cause, HasSubstr("line 3"));
  EXPECT_THAT(read.fault().cause, HasSubstr("'answer'"));
}

TEST_F(DatasetReaderTest, TheRightChoiceGoesByItsTextOrByItsNumber) {
  const Dataset data =
      folder_
          .Read(DatasetReader(TaskKind::kChoices),
                "{\"prompt\": \"p\", \"choices\": [\"x\", \"y\"], "
                "\"answer\": \"y\"}\n"
                "{\"prompt\": \"p\", \"choices\": [\"x\", \"y\", \"z\"], "
                "\"answer\": 2}\n",
                Jsonl(), {})
          .value();
  EXPECT_EQ(data[0].right, 1U);
  EXPECT_EQ(data[1].right, 2U);
  EXPECT_THAT(data.words(1), ElementsAre("x", "y", "z"));
}

TEST_F(DatasetReaderTest, AnAnswerThatIsNoChoiceIsAFault) {
  const auto read =
      folder_.Read(DatasetReader(TaskKind::kChoices),
                   "{\"prompt\": \"p\", \"choices\": [\"x\", \"y\"], "
                   "\"answer\": \"z\"}\n",
                   Jsonl(), {});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.fault().cause, HasSubstr("names none of the choices"));
}

}  // namespace
}  // namespace frostline::trainer

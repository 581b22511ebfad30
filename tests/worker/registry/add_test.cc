// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/add.h"

#include "base/error.h"
#include "base/plain/sums.h"
#include "tests/worker/registry/registry_fixture.h"
#include "worker/registry/guess.h"
#include "worker/registry/registry.h"
#include "worker/trainer/data/load.h"

namespace frostline::registry {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// What a person has becomes entries, or nothing changes.

constexpr char kReviews[] =
    "id,review,sentiment\n"
    "1,\"good, and long enough to be a text\",pos\n"
    "2,a film that nobody needs to see twice,neg\n"
    "3,I laughed from the beginning to the end,pos\n"
    "4,,neg\n";

std::string SumOfText(const std::string& text) {
  Sha256Sum sum;
  sum.Add(text);
  return sum.Finish();
}

TEST_F(RegistryTest, ATableBecomesAnEntryThatTheTrainerReads) {
  ASSERT_OK_AND_ASSIGN(const AddedDataSet added,
                       AddText("My Reviews.csv", kReviews));
  EXPECT_EQ(added.facts.id, "my-reviews");
  EXPECT_EQ(added.columns.at("text"), "review");
  EXPECT_EQ(added.columns.at("label"), "sentiment");
  EXPECT_THAT(added.guessed, ElementsAre("text", "label"));
  EXPECT_THAT(added.facts.classes, ElementsAre(Pair("neg", 2), Pair("pos", 2)));
  ASSERT_THAT(added.facts.splits, SizeIs(1));
  EXPECT_EQ(added.facts.splits[0].rows, 4);
  EXPECT_EQ(added.facts.splits[0].empty_texts, 1);
  auto loader = trainer::DataLoader::Open(registry());
  ASSERT_TRUE(loader.ok()) << loader.fault().cause;
  const auto data =
      loader.value().Load({.id = "my-reviews", .validation_share = 0.5});
  ASSERT_TRUE(data.ok()) << data.fault().cause;
  EXPECT_EQ(data.value().train.size() + data.value().validation.size(), 4u);
}

TEST_F(RegistryTest, WhatIsThereStaysAsItWasWritten) {
  ASSERT_OK(AddText("a.csv", kReviews).status());
  const std::string before = "# mine\n" + Text("registry/datasets.yaml");
  Write("registry/datasets.yaml", before);
  ASSERT_OK(AddText("b.csv", kReviews).status());
  EXPECT_THAT(Text("registry/datasets.yaml"), ::testing::StartsWith(before));
  ASSERT_OK_AND_ASSIGN(const Registry both, ReadRegistry(registry()));
  EXPECT_THAT(both.data_sets, SizeIs(2));
}

TEST_F(RegistryTest, TheSameRowsAgainAreThereAlreadyAndOthersAreRefused) {
  ASSERT_OK(AddText("a.csv", kReviews).status());
  const std::string before = Text("registry/datasets.yaml");
  ASSERT_OK_AND_ASSIGN(const AddedDataSet again, AddText("a.csv", kReviews));
  EXPECT_TRUE(again.was_there);
  const auto other = AddText("a.csv", std::string(kReviews) + "5,x,pos\n");
  EXPECT_THAT(other, FailsWith(ErrorId::kTrainerMismatch));
  EXPECT_THAT(CauseOf(other.status()), HasSubstr("another data set 'a'"));
  EXPECT_EQ(Text("registry/datasets.yaml"), before);
}

TEST_F(RegistryTest, TheSameRowsWithAnotherColumnAreAnotherSet) {
  ASSERT_OK(AddText("a.csv", kReviews).status());
  NewDataSet set;
  set.path = folder_.File("a.csv");
  set.columns = {{"text", "id"}};
  EXPECT_THAT(CauseOf(Add(set).status()), HasSubstr("another data set 'a'"));
  set.columns = {{"text", "review"}};
  EXPECT_OK(Add(set).status());
  set.id = "b";
  set.columns = {{"text", "id"}};
  EXPECT_OK(Add(set).status());
}

TEST_F(RegistryTest, WhatDoesNotHoldChangesNothing) {
  struct {
    const char* name;
    const char* text;
    const char* cause;
  } const cases[] = {
      {"one.csv", "text,label\nsome words,pos\nmore words,pos\n",
       "every row has the label 'pos'"},
      {"empty.csv", "text,label\n,pos\n,neg\n", "every text is empty"},
      {"nolabel.csv", "text,label\nsome words,pos\nmore words,\n",
       "line 3: has no label in column 'label'"},
      {"short.csv", "text,label\na,pos\nb\n", "line 3: has 1 columns"},
      {"quote.csv", "text,label\na,pos\n\"b,neg\n", "never closed"},
      {"none.csv", "text,label\n", "has no rows"},
      {"void.csv", "", "has no rows"},
      {"utf16.csv", "\xFF\xFEt\1e\1", "UTF-8"},
      {"list.json", "[{\"text\": \"a\"}]", "one JSON array"},
      {"a.parquet", "PAR1", "is Parquet, which is not read here"},
      {"a.xlsx", "PK", "is a spreadsheet"},
      {"a.csv.gz", "x", "is compressed"},
      {"a.dat", "x", "tells no format"},
  };
  for (const auto& c : cases) {
    const auto added = AddText(c.name, c.text);
    ASSERT_FALSE(added.ok()) << c.name;
    EXPECT_THAT(CauseOf(added.status()), HasSubstr(c.cause)) << c.name;
    EXPECT_FALSE(FixOf(added.status()).empty()) << c.name;
    EXPECT_FALSE(Exists("registry")) << c.name;
  }
}

// A spreadsheet writes quotes about a text that holds tabs.
TEST_F(RegistryTest, TabsInQuotesAreOfTheText) {
  ASSERT_OK_AND_ASSIGN(
      const AddedDataSet added,
      AddText("quoted.tsv",
              "text\tlabel\n\"a soup\tand \"\"bread\"\"\"\tpos\n"
              "plain \"words\" here\tneg\n"));
  EXPECT_THAT(added.facts.classes, ElementsAre(Pair("neg", 1), Pair("pos", 1)));
  // Where every row is even as it stands, a quote is text.
  ASSERT_OK(
      AddText("plain.tsv", "text\tlabel\n\"open\tpos\nother\tneg\n").status());
}

TEST_F(RegistryTest, TheFirstJsonLineMayLackItsLabel) {
  const std::string rows =
      "{\"text\": \"some words\"}\n{\"text\": \"more words\", \"label\": "
      "\"p\"}\n{\"text\": \"other words\", \"label\": \"n\"}\n";
  const auto added = AddText("lacks.jsonl", rows);
  EXPECT_THAT(CauseOf(added.status()),
              HasSubstr("line 1: has no label in column 'label'"));
  EXPECT_THAT(FixOf(added.status()), HasSubstr("--skip-unlabelled"));
}

TEST_F(RegistryTest, WhereANameTellsNoFormatTheFirstLineMay) {
  ASSERT_OK_AND_ASSIGN(const AddedDataSet tabs,
                       AddText("tabs.txt", "text\tlabel\na b\tx\nc d\ty\n"));
  EXPECT_THAT(tabs.facts.classes, ElementsAre(Pair("x", 1), Pair("y", 1)));
  ASSERT_OK_AND_ASSIGN(const AddedDataSet objects,
                       AddText("objects.txt",
                               "{\"text\": \"a b\", \"label\": \"x\"}\n"
                               "{\"text\": \"c d\", \"label\": \"y\"}\n"));
  EXPECT_THAT(objects.facts.classes, ElementsAre(Pair("x", 1), Pair("y", 1)));
  EXPECT_THAT(CauseOf(AddText("prose.txt", "text,label\na,x\n").status()),
              HasSubstr("tells no format"));
}

TEST_F(RegistryTest, AFileThatIsReadByNobodyHereSaysTheCommandThatConvertsIt) {
  const std::string path = Write("d/my.parquet", "PAR1");
  NewDataSet set;
  set.path = path;
  EXPECT_THAT(FixOf(Add(set).status()),
              AllOf(HasSubstr("read_parquet('" + path + "')"),
                    HasSubstr("to_json('" + folder_.File("d/my.jsonl") + "'")));
}

TEST_F(RegistryTest, AByteOrderMarkAndCrLfAreNoPartOfAName) {
  ASSERT_OK_AND_ASSIGN(
      const AddedDataSet added,
      AddText("bom.csv", "\xEF\xBB\xBFtext,label\r\nsome,a\r\nmore,b\r\n"));
  EXPECT_THAT(added.facts.classes, ElementsAre(Pair("a", 1), Pair("b", 1)));
}

TEST_F(RegistryTest, RowsWithoutALabelAreLeftOutWhenThatIsSaid) {
  NewDataSet set;
  set.path = Write("x.csv", "text,label\nsome,a\nmore,b\nlast,\n");
  set.skip_unlabelled = true;
  ASSERT_OK_AND_ASSIGN(const AddedDataSet added, Add(set));
  EXPECT_EQ(added.facts.splits[0].rows, 2);
  EXPECT_EQ(added.facts.splits[0].left_out, 1);
  EXPECT_THAT(Text("registry/datasets.yaml"),
              HasSubstr("skip_unlabelled: true"));
}

TEST_F(RegistryTest, JsonLinesAndOtherDelimitersAreFoundOut) {
  ASSERT_OK_AND_ASSIGN(
      const AddedDataSet lines,
      AddText("l.jsonl",
              "{\"text\": \"a b\", \"label\": 0, \"meta\": {\"x\": 1}}\n"
              "{\"text\": \"c\", \"label\": 1, \"meta\": {\"x\": 1}}\n"));
  EXPECT_EQ(lines.facts.task.kind, trainer::TaskKind::kClassification);
  ASSERT_OK_AND_ASSIGN(const AddedDataSet semicolons,
                       AddText("s.csv", "text;label\na, b;x\nc, d;y\n"));
  EXPECT_THAT(semicolons.facts.classes, SizeIs(2));
  ASSERT_OK_AND_ASSIGN(const AddedDataSet numbers,
                       AddText("n.tsv", "text\tscore\na\t0.5\nb\t1.25\n"));
  EXPECT_EQ(NameOf(numbers.facts.task), "regression");
  EXPECT_THAT(numbers.facts.classes, IsEmpty());
}

TEST_F(RegistryTest, CoNlluIsTagging) {
  ASSERT_OK_AND_ASSIGN(
      const AddedDataSet added,
      AddText("t.conllu",
              "# text = Go on\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n"
              "2\ton\ton\tADP\t_\t_\t1\tcase\t_\t_\n\n"));
  EXPECT_EQ(NameOf(added.facts.task), "tagging");
  EXPECT_EQ(added.columns.at("tags"), "upos");
  EXPECT_THAT(added.facts.classes,
              ElementsAre(Pair("ADP", 1), Pair("VERB", 1)));
}

TEST_F(RegistryTest, AFolderOfHuggingFaceHasItsSplits) {
  Write("hf/README.md", "# a set");
  Write("hf/data/train-00000-of-00001.jsonl",
        "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"label\": 0}\n"
        "{\"sentence1\": \"c\", \"sentence2\": \"d\", \"label\": 1}\n");
  Write("hf/data/validation-00000-of-00001.jsonl",
        "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"label\": 0}\n");
  NewDataSet set;
  set.path = folder_.File("hf");
  ASSERT_OK_AND_ASSIGN(const AddedDataSet added, Add(set));
  EXPECT_EQ(added.facts.id, "hf");
  EXPECT_EQ(NameOf(added.facts.task), "pair");
  EXPECT_EQ(added.columns.at("second"), "sentence2");
  ASSERT_THAT(added.facts.splits, SizeIs(2));
  EXPECT_EQ(added.facts.splits[1].name, "validation");
  EXPECT_TRUE(Exists("registry/data/hf/validation.jsonl"));
}

TEST_F(RegistryTest, AFolderThatIsNotReadSaysWhyAndWhatToDo) {
  NewDataSet set;
  set.path = folder_.File("set");
  Write("set/train.parquet", "PAR1");
  EXPECT_THAT(CauseOf(Add(set).status()), HasSubstr("is Parquet"));
  Write("set/state.json", "{}");
  EXPECT_THAT(CauseOf(Add(set).status()), HasSubstr("save_to_disk"));
  Write("set/train-0.jsonl", "{}");
  Write("set/train-1.jsonl", "{}");
  EXPECT_THAT(CauseOf(Add(set).status()), HasSubstr("in several files"));
  set.path = folder_.File("nowhere");
  EXPECT_THAT(Add(set), FailsWith(ErrorId::kTrainerFile));
}

TEST_F(RegistryTest, AValidationFileHasTheLabelsOfTraining) {
  NewDataSet set;
  set.path = Write("t.csv", "text,label\na,x\nb,y\n");
  set.validation = Write("v.csv", "text,label\na,z\n");
  EXPECT_THAT(CauseOf(Add(set).status()), HasSubstr("label 'z' is unknown"));
  set.validation = Write("v.csv", "text,label\na,y\n");
  set.test = Write("test.csv", "id,text\n1,a\n");
  ASSERT_OK_AND_ASSIGN(const AddedDataSet added, Add(set));
  ASSERT_THAT(added.facts.splits, SizeIs(3));
  EXPECT_FALSE(added.facts.splits[1].labelled);  // the test split
}

// A first line that is a row.

class FirstLineTest : public RegistryTest {
 protected:
  absl::StatusOr<AddedDataSet> AddAs(const std::string& text,
                                     const TableHints& hints,
                                     const trainer::ColumnMap& columns = {}) {
    NewDataSet set;
    set.path = Write("f.tsv", text);
    set.hints = hints;
    set.columns = columns;
    return Add(set);
  }

  // As CoLA is published: source, label, mark, sentence.
  static constexpr char kCola[] =
      "gj04\t1\t\tOur friends will not buy this analysis.\n"
      "gj04\t1\t\tOne more such rule and I am giving up.\n"
      "gj04\t0\t*\tThey drank the pub dry and went to home.\n"
      "gj04\t0\t*\tHe is expected to be to leave before she.\n";
};

TEST_F(FirstLineTest, ARowThatStandsFirstIsNotLost) {
  ASSERT_OK_AND_ASSIGN(
      const AddedDataSet added,
      AddAs("1\tgood, and long enough to be taken for a text\n"
            "0\ta film that nobody needs to see twice in a life\n"
            "1\tI laughed from the beginning to the very end\n"
            "0\tslow, and not even short for all of that, no\n",
            {}));
  EXPECT_EQ(added.facts.splits[0].rows, 4);
  EXPECT_TRUE(added.lacks_header && added.is_header_guessed);
  EXPECT_EQ(added.columns.at("text"), "2");
  EXPECT_THAT(Text("registry/datasets.yaml"), HasSubstr("header: false"));
}

TEST_F(FirstLineTest, ColumnsWithoutNamesAreToldByNumberAndFirstValue) {
  const auto added = AddAs(kCola, {});
  EXPECT_THAT(added, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(CauseOf(added.status()),
              AllOf(HasSubstr("which column holds the labels?"),
                    HasSubstr("1 ('gj04'), 2 ('1'), 3 (''), 4 ('Our fr")));
  ASSERT_OK_AND_ASSIGN(const AddedDataSet named,
                       AddAs(kCola, {}, {{"label", "2"}}));
  EXPECT_EQ(named.facts.splits[0].rows, 4);
}

TEST_F(FirstLineTest, InDoubtNothingIsAddedAndTheFixNamesBothFlags) {
  for (const char* const text :
       {"a\tb\nx\ty\n", "text\tlabel\n1\ttext\ntext\tgood\n"}) {
    const auto added = AddAs(text, {});
    EXPECT_THAT(CauseOf(added.status()), HasSubstr("or is it a row?")) << text;
    EXPECT_THAT(FixOf(added.status()),
                AllOf(HasSubstr("--header "), HasSubstr("--no-header")));
    EXPECT_FALSE(Exists("registry")) << text;
  }
}

// Given a column by a value of the first row, as an earlier version asked for.
TEST_F(FirstLineTest, ANameThatIsAValueLosesNoRow) {
  EXPECT_THAT(CauseOf(AddAs(kCola, {}, {{"label", "gj04"}}).status()),
              HasSubstr("or is it a row?"));
}

TEST_F(FirstLineTest, ANamedColumnIsAHeader) {
  EXPECT_OK(AddAs("a\tb\nx w\tc\ny\td\n", {}, {{"text", "a"}, {"label", "b"}})
                .status());
}

TEST_F(FirstLineTest, SplitsHaveAHeaderAllOrNone) {
  NewDataSet set;
  set.path = Write("t.csv", "text,label\na,x\nb,y\n");
  set.validation = Write("v.csv", "7,x\n8,y\n8,x\n");
  const auto added = Add(set);
  EXPECT_THAT(CauseOf(added.status()), HasSubstr("v.csv has no header and"));
  EXPECT_FALSE(Exists("registry"));
}

// Taking out and putting in another's place.

TEST_F(RegistryTest, AnEntryIsTakenOutAndAllElseStays) {
  ASSERT_OK(AddText("a.csv", kReviews).status());
  ASSERT_OK(AddText("b.csv", kReviews).status());
  Write("registry/datasets.yaml",
        "# mine\n" + Text("registry/datasets.yaml") + "# the end\n");
  ASSERT_OK_AND_ASSIGN(const auto left, RemoveDataSet(registry(), "a"));
  EXPECT_THAT(left, ElementsAre("data/a/train.csv"));
  EXPECT_THAT(Text("registry/datasets.yaml"),
              AllOf(::testing::StartsWith("# mine\nb:\n"),
                    ::testing::EndsWith("# the end\n")));
  EXPECT_TRUE(Exists("registry/data/a/train.csv"));
  EXPECT_THAT(FixOf(RemoveDataSet(registry(), "bb").status()),
              HasSubstr("did you mean 'b'?"));
}

TEST_F(RegistryTest, TheFileGoesWithItsLastEntry) {
  ASSERT_OK(AddText("a.csv", kReviews).status());
  ASSERT_OK(RemoveDataSet(registry(), "a").status());
  EXPECT_FALSE(Exists("registry/datasets.yaml"));
  ASSERT_OK(AddText("a.csv", kReviews).status());
}

TEST_F(RegistryTest, OtherRowsTakeTheFormerOnesPlaceWhenThatIsSaid) {
  ASSERT_OK(AddText("a.csv", kReviews).status());
  NewDataSet set;
  set.path = Write("a.csv", std::string(kReviews) + "5,x,pos\n");
  EXPECT_THAT(FixOf(Add(set).status()), HasSubstr("--replace"));
  set.replace = true;
  ASSERT_OK_AND_ASSIGN(const AddedDataSet added, Add(set));
  EXPECT_EQ(added.facts.splits[0].rows, 5);
  ASSERT_OK_AND_ASSIGN(const Registry now, ReadRegistry(registry()));
  EXPECT_THAT(now.data_sets, SizeIs(1));
  EXPECT_OK(CheckDataSet(now, "a").status());
  // What a worker may be reading is still there.
  EXPECT_EQ(Text("registry/data/a/train.csv"), kReviews);
}

TEST_F(RegistryTest, AReplacementThatDoesNotHoldLeavesTheFormer) {
  ASSERT_OK(AddText("a.csv", kReviews).status());
  const std::string before = Text("registry/datasets.yaml");
  NewDataSet set;
  set.path = Write("a.csv", "id,review,sentiment\n1,x y,pos\n2,z,pos\n");
  set.replace = true;
  EXPECT_FALSE(Add(set).ok());
  EXPECT_EQ(Text("registry/datasets.yaml"), before);
  EXPECT_FALSE(Exists("registry/data/a/train-" +
                      SumOfText(Text("a.csv")).substr(0, 8) + ".csv"));
}

TEST_F(RegistryTest, AModelThatWasTakenOutCanBeAddedAgain) {
  const std::string path = WriteModel("m");
  ASSERT_OK(AddModel(registry(), {path, ""}).status());
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(RemoveModel(registry(), "m").status());
    ASSERT_OK(AddModel(registry(), {path, ""}).status());
  }
}

TEST_F(RegistryTest, AnErrorNamesTheFileThatWasGiven) {
  const auto added = AddText("mine.csv", "text,label\nsome words,pos\nmore,\n");
  EXPECT_THAT(CauseOf(added.status()),
              AllOf(HasSubstr(folder_.File("mine.csv") + " line 3"),
                    ::testing::Not(HasSubstr("data/mine/train"))));
  EXPECT_THAT(FixOf(added.status()), HasSubstr("--skip-unlabelled"));
}

TEST_F(RegistryTest, AModelOfTheHubSaysHowItIsFetched) {
  const auto added = AddModel(registry(), {"bert-base-uncased", ""});
  EXPECT_THAT(
      FixOf(added.status()),
      AllOf(HasSubstr("`frostline registry add --model bert-base-uncased`"),
            HasSubstr("`hf download bert-base-uncased --local-dir ")));
}

TEST_F(RegistryTest, AFileBelowTheRegistryStaysWhereItIs) {
  NewDataSet set;
  set.path = Write("registry/sets/a.csv", kReviews);
  ASSERT_OK(Add(set).status());
  EXPECT_THAT(Text("registry/datasets.yaml"),
              HasSubstr("path: \"sets/a.csv\""));
  EXPECT_FALSE(Exists("registry/data"));
}

TEST_F(RegistryTest, AModelIsPlacedWithTheSumOfItsWeights) {
  const std::string path = WriteModel("tiny_bert/model");
  ASSERT_OK_AND_ASSIGN(const AddedModel added,
                       AddModel(registry(), {path, ""}));
  EXPECT_EQ(added.facts.id, "tiny_bert");
  EXPECT_EQ(added.facts.layers, 3);
  EXPECT_TRUE(Exists("registry/models/tiny_bert/vocab.txt"));
  ASSERT_OK_AND_ASSIGN(const AddedModel again,
                       AddModel(registry(), {path, ""}));
  EXPECT_TRUE(again.was_there);
  ASSERT_OK_AND_ASSIGN(
      const AddedModel below,
      AddModel(registry(), {registry() + "/models/tiny_bert", "other"}));
  EXPECT_FALSE(below.was_there);
  EXPECT_FALSE(Exists("registry/models/other"));
}

class AdditionTest : public RegistryTest {
 protected:
  absl::Status AddBoth(Addition& addition) const {
    NewDataSet set;
    set.path = Write("a.csv", kReviews);
    RETURN_IF_ERROR(addition.Add(set).status());
    const std::string model = Exists("m") ? folder_.File("m") : WriteModel("m");
    return addition.Add(NewModel{model, ""}).status();
  }
};

TEST_F(AdditionTest, WhatIsAddedTogetherIsKeptTogether) {
  {
    ASSERT_OK_AND_ASSIGN(Addition addition, Addition::To(registry()));
    ASSERT_OK(AddBoth(addition));
    EXPECT_THAT(addition.registry().data_sets, SizeIs(1));
  }
  EXPECT_FALSE(Exists("registry"));
  {
    ASSERT_OK_AND_ASSIGN(Addition addition, Addition::To(registry()));
    ASSERT_OK(AddBoth(addition));
    ASSERT_OK(addition.Keep());
  }
  ASSERT_OK_AND_ASSIGN(const Registry both, ReadRegistry(registry()));
  EXPECT_THAT(both.data_sets, SizeIs(1));
  EXPECT_THAT(both.models, SizeIs(1));
}

// models.yaml cannot be written where a folder has its name.
TEST_F(AdditionTest, AnEntryThatCannotBeWrittenTakesTheOtherBack) {
  ASSERT_OK_AND_ASSIGN(Addition addition, Addition::To(registry()));
  ASSERT_OK(AddBoth(addition));
  std::filesystem::create_directory(registry() + "/models.yaml");
  EXPECT_FALSE(addition.Keep().ok());
  EXPECT_FALSE(Exists("registry/datasets.yaml"));
}

TEST_F(RegistryTest, AModelThatCannotBeLoadedChangesNothing) {
  const std::string path = WriteModel("m");
  const auto cause = [&] {
    const auto added = AddModel(registry(), {path, ""});
    EXPECT_FALSE(Exists("registry"));
    return added.ok() ? "ok" : CauseOf(added.status());
  };
  std::filesystem::remove(path + "/vocab.txt");
  EXPECT_THAT(cause(), HasSubstr("tokenizer"));
  Write("m/config.json", "{\"model_type\": \"gpt2\"}");
  EXPECT_THAT(cause(), HasSubstr("\"gpt2\" is not known"));
  std::filesystem::remove(path + "/model.safetensors");
  EXPECT_THAT(cause(), HasSubstr("model.safetensors"));
  Write("m/pytorch_model.bin", "x");
  EXPECT_THAT(cause(), HasSubstr("pytorch_model.bin"));
  std::filesystem::remove(path + "/config.json");
  EXPECT_THAT(cause(), HasSubstr("has no config.json"));
}

TEST(IdFromPath, IsWhatAnIdMayBe) {
  EXPECT_EQ(IdFromPath("My Reviews (2).csv"), "my-reviews-2");
  EXPECT_EQ(IdFromPath("/tmp/gt_all/model"), "gt_all");
  EXPECT_EQ(IdFromPath("__x.csv"), "x");
  EXPECT_EQ(IdFromPath("\xC3\xA9.csv"), "");
}

class GuessTest : public RegistryTest {
 protected:
  absl::StatusOr<RoleGuess> Guess(const std::string& text,
                                  const trainer::ColumnMap& said = {},
                                  const std::string& task = "") {
    const std::string path = Write("g.csv", text);
    const auto look = LookAtTable(path, {});
    if (!look.ok()) return look.status();
    return GuessRoles(path, *look, said, task);
  }
};

TEST_F(GuessTest, AMisspeltColumnNamesTheNearest) {
  const auto guess =
      Guess("review,stars\nsome,1\nmore,2\n", {{"text", "reviews"}});
  EXPECT_THAT(CauseOf(guess.status()),
              HasSubstr("has no column 'reviews'; it has 'review', 'stars'"));
  EXPECT_EQ(FixOf(guess.status()), "did you mean --text review?");
}

TEST_F(GuessTest, AColumnMayBeNamedByItsNumber) {
  EXPECT_OK(
      Guess("a,b\nsome,1\nmore,2\n", {{"text", "1"}, {"label", "2"}}).status());
  EXPECT_FALSE(
      Guess("a,b\nsome,1\nmore,2\n", {{"text", "1"}, {"label", "3"}}).ok());
}

TEST_F(GuessTest, InDoubtItAsks) {
  const auto guess = Guess("a,b\nx,1\ny,2\n");
  EXPECT_THAT(CauseOf(guess.status()), HasSubstr("which column holds the"));
  EXPECT_EQ(FixOf(guess.status()), "name it: --text COL");
  std::string amounts = "text,label\n";
  for (int i = 0; i < 30; ++i) amounts += "w," + std::to_string(i) + "\n";
  EXPECT_THAT(CauseOf(Guess(amounts).status()),
              HasSubstr("are they classes, or amounts?"));
  EXPECT_OK(Guess(amounts, {}, "regression").status());
}

TEST_F(GuessTest, WithoutUsualNamesContentsTell) {
  std::string text = "nr,what was said,kind\n";
  for (int i = 0; i < 40; ++i) {
    text += std::to_string(i) + ",a sentence that goes on for some time " +
            std::to_string(i) + "," + (i % 2 == 0 ? "A" : "B") + "\n";
  }
  ASSERT_OK_AND_ASSIGN(const RoleGuess guess, Guess(text));
  EXPECT_EQ(guess.columns.at("text"), "what was said");
  EXPECT_EQ(guess.columns.at("label"), "kind");
}

using RowsToPredictTest = RegistryTest;

TEST_F(RowsToPredictTest, ColumnsGoByTheirUsualNames) {
  const std::string model = WriteModel("m");
  ASSERT_OK_AND_ASSIGN(
      const RowsToPredict rows,
      LookAtRowsToPredict(
          model, Write("r.csv", "nr,review,sentiment\n1,some,good\n"), {}, {}));
  EXPECT_THAT(rows.columns,
              ElementsAre(Pair("label", "sentiment"), Pair("text", "review")));
  EXPECT_TRUE(rows.labelled);
  EXPECT_EQ(rows.format.kind, trainer::FileFormat::Kind::kCsv);
}

TEST_F(RowsToPredictTest, LabelsMayLackAndNoOtherColumnIsTakenForThem) {
  ASSERT_OK_AND_ASSIGN(
      const RowsToPredict rows,
      LookAtRowsToPredict(WriteModel("m"),
                          Write("r.tsv",
                                "text\tday\na\tmon\nb\tmon\nc\ttue\n"
                                "d\ttue\n"),
                          {}, {}));
  EXPECT_THAT(rows.columns, ElementsAre(Pair("text", "text")));
  EXPECT_FALSE(rows.labelled);
}

TEST_F(RowsToPredictTest, PairsAreFoundWithoutBeingAskedFor) {
  ASSERT_OK_AND_ASSIGN(
      const RowsToPredict rows,
      LookAtRowsToPredict(WriteModel("m"),
                          Write("r.tsv", "sentence1\tsentence2\na\tb\n"), {},
                          {}));
  EXPECT_THAT(rows.columns, ElementsAre(Pair("second", "sentence2"),
                                        Pair("text", "sentence1")));
}

TEST_F(RowsToPredictTest, InDoubtItAsks) {
  const auto rows =
      LookAtRowsToPredict(WriteModel("m"), Write("r.tsv", "a\tb\nx\ty\n"), {},
                          {.has_header = true});
  EXPECT_THAT(CauseOf(rows.status()),
              HasSubstr("which column holds the texts"));
  EXPECT_EQ(FixOf(rows.status()), "name it: --text COL");
}

TEST_F(RowsToPredictTest, AFolderThatAnswersNothingIsRefused) {
  const std::string model = WriteModel("m");
  Write("m/config.json", R"({"architectures": ["BertModel"]})");
  const auto rows =
      LookAtRowsToPredict(model, Write("r.tsv", "text\na\n"), {}, {});
  EXPECT_THAT(CauseOf(rows.status()), HasSubstr("answers nothing"));
  EXPECT_FALSE(LookAtRowsToPredict(folder_.File("none"), model, {}, {}).ok());
}

using Answer = KnownSums::Answer;

std::string SumOf(const std::string& text) {
  Sha256Sum sum;
  sum.Add(text);
  return sum.Finish();
}

class KnownSumsTest : public RegistryTest {
 protected:
  KnownSums sums_{folder_.path().string()};
};

TEST_F(KnownSumsTest, AFileIsReadOnceAndAgainWhenItChanged) {
  Write("a", "one");
  sums_.AllowToRead(100);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(sums_.Judge({"a", SumOf("one")}), Answer::kRight);
    EXPECT_EQ(sums_.Judge({"a", SumOf("two")}), Answer::kWrong);
  }
  EXPECT_EQ(sums_.computed(), 1);
  std::filesystem::remove(folder_.File("a"));
  Write("a", "two!");
  EXPECT_EQ(sums_.Judge({"a", SumOf("two!")}), Answer::kRight);
  EXPECT_EQ(sums_.computed(), 2);
}

TEST_F(KnownSumsTest, AfterEnoughBytesTheRestWaits) {
  Write("a", "12345678");
  Write("b", "12345678");
  const std::string sum = SumOf("12345678");
  sums_.AllowToRead(4);
  EXPECT_EQ(sums_.Judge({"a", sum}), Answer::kRight);  // one, however large
  EXPECT_EQ(sums_.Judge({"b", sum}), Answer::kLater);
  EXPECT_EQ(sums_.Judge({"b", ""}), Answer::kRight);
  sums_.AllowToRead(4);
  EXPECT_EQ(sums_.Judge({"b", sum}), Answer::kRight);
}

TEST_F(KnownSumsTest, OfAFileThatIsNotThereNothingIsKnown) {
  sums_.AllowToRead(4);
  EXPECT_EQ(sums_.Judge({"a", SumOf("x")}), Answer::kUnknown);
  EXPECT_EQ(sums_.Judge({"../a", SumOf("x")}), Answer::kUnknown);
}

}  // namespace
}  // namespace frostline::registry

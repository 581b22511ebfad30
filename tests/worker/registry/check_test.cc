// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a registry is found before a trainer finds it.
#include "worker/registry/check.h"

#include "tests/worker/registry/registry_fixture.h"

namespace frostline::registry {
namespace {

using ::testing::HasSubstr;

class CheckTest : public RegistryTest {
 protected:
  CheckTest() {
    EXPECT_OK(AddText("a.csv", "text,label\nsome,x\nmore,y\n").status());
    EXPECT_OK(AddModel(registry(), {WriteModel("m"), ""}).status());
  }
  Registry Read() const { return ReadRegistry(registry()).value(); }
};

TEST_F(CheckTest, AMalformedFileNamesItsLine) {
  struct {
    const char* file;
    const char* text;
    const char* cause;
  } const cases[] = {
      {"models.yaml", "m:\n\tpath: m\n", "models.yaml line 2"},
      {"models.yaml", "m:\n  path: m\n  size: 3\n", "unknown key 'size'"},
      {"models.yaml", "m:\n  path: m\n  sha256: 12\n", "64 lower-case hex"},
      {"models.yaml", "", "is empty"},
      {"datasets.yaml", "A:\n  splits:\n    train: {path: a, sha256: b}\n",
       "'A' is no id"},
      {"datasets.yaml",
       "a:\n  task: tag\n  splits:\n    train: {path: a, sha256: b}\n",
       "task 'tag' is unknown"},
      {"datasets.yaml", "a: [b]\n", "is no block of keys"},
  };
  for (const auto& c : cases) {
    const std::string path = std::string("registry/") + c.file;
    const std::string before = Text(path);
    Write(path, c.text);
    const auto read = ReadRegistry(registry());
    EXPECT_THAT(read, FailsWith(ErrorId::kTrainerSyntax)) << c.text;
    EXPECT_THAT(CauseOf(read.status()), HasSubstr(c.cause)) << c.text;
    EXPECT_THAT(CauseOf(read.status()), HasSubstr(folder_.File(path)));
    Write(path, before);
  }
}

TEST_F(CheckTest, AnotherSumIsToldForEitherKind) {
  ASSERT_OK(CheckModel(Read(), "m").status());
  ASSERT_OK(CheckDataSet(Read(), "a").status());
  Write("registry/data/a/train.csv", "text,label\nother,x\nmore,y\n");
  EXPECT_THAT(CauseOf(CheckDataSet(Read(), "a").status()),
              HasSubstr("data/a/train.csv: its SHA-256 is "));
  std::filesystem::remove(folder_.File("registry/models/m/model.safetensors"));
  Write("registry/models/m/model.safetensors", "x");
  EXPECT_THAT(CauseOf(CheckModel(Read(), "m").status()),
              HasSubstr("model.safetensors: its SHA-256 is "));
}

TEST_F(CheckTest, AColumnThatIsNotThereIsNamed) {
  std::string yaml = Text("registry/datasets.yaml");
  yaml.replace(yaml.find("\"label\""), 7, "\"lable\"");
  Write("registry/datasets.yaml", yaml);
  EXPECT_THAT(CauseOf(CheckDataSet(Read(), "a").status()),
              HasSubstr("has no column 'lable'"));
}

TEST_F(CheckTest, AnEntryThatIsNotThereIsNamed) {
  EXPECT_THAT(CheckModel(Read(), "n"), FailsWith(ErrorId::kTrainerFile));
  EXPECT_THAT(CheckDataSet(Read(), "n"), FailsWith(ErrorId::kTrainerFile));
}

TEST_F(CheckTest, ManyRowsAreCounted) {
  std::string text = "text,label\n";
  for (int i = 0; i < 5000; ++i) {
    text += "word " + std::to_string(i) + "," + std::to_string(i % 3) + "\n";
  }
  ASSERT_OK_AND_ASSIGN(const AddedDataSet added, AddText("many.csv", text));
  EXPECT_EQ(added.facts.splits[0].rows, 5000);
  EXPECT_EQ(added.facts.classes[0].second, 1667);
}

}  // namespace
}  // namespace frostline::registry

// SPDX-License-Identifier: Apache-2.0
//
// Files that somebody broke: each is read, or is one fault that names the
// file. Every fault can travel in JSON.
#include "base/plain/text.h"
#include "tests/worker/trainer/data/data_fixture.h"

namespace frostline::trainer {
namespace {

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

}  // namespace
}  // namespace frostline::trainer

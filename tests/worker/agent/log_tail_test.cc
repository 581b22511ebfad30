// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/log_tail.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "base/plain/predictions_file.h"
#include "frostline/v1/trial.pb.h"
#include "gmock/gmock.h"
#include "proto/rules.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/file.h"
#include "worker/agent/link/log_listener.h"

namespace frostline::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(LogTail, IsAsLongAsTheContractTakes) {
  EXPECT_EQ(kMaxLogTailBytes, proto::MaxBytes<v1::Outcome>("log_tail"));
}

TEST(LogTail, KeepsWholeLinesOfTheEnd) {
  LogTail log;
  for (int i = 0; i < 20'000; ++i) {
    log.Append("line " + std::to_string(i) + "\n");
  }
  const std::string text = log.Text();
  EXPECT_LE(text.size(), kMaxLogTailBytes);
  EXPECT_GT(text.size(), kMaxLogTailBytes - 20);
  EXPECT_THAT(text, StartsWith("line "));
  EXPECT_THAT(text, EndsWith("line 19999\n"));
}

TEST(LogTail, BytesThatAreNoTextDoNotLetItGrow) {
  LogTail log;
  log.Append(std::string(3 * kMaxLogTailBytes, '\xff'));
  EXPECT_EQ(log.Text(), std::string(kMaxLogTailBytes, '?'));
}

TEST(LogTail, ACharacterThatComesInTwoHalvesIsOne) {
  LogTail log;
  log.Append("na\xc3");
  EXPECT_EQ(log.Tail().end, 2);
  log.Append("\xafve \xe2\x82");
  log.Append("\xac\n\xff");
  EXPECT_EQ(log.Text(), "na\xc3\xafve \xe2\x82\xac\n?");
  EXPECT_EQ(log.Tail().end, 12);
}

TEST(LogTail, TellsWhatComesAfterSoManyBytes) {
  LogTail log;
  log.Append("hello\nworld\n");
  EXPECT_EQ(log.After(6).text, "world\n");
  EXPECT_EQ(log.After(6).end, 12);
  EXPECT_EQ(log.After(12).text, "");
  EXPECT_EQ(log.After(99).text, "");
  const std::string line(1023, 'x');
  for (int i = 0; i < 1000; ++i) log.Append(line + "\n");
  EXPECT_EQ(log.After(12).text.size(), kMaxLogTailBytes - 1024);
  EXPECT_EQ(log.After(12).end, 12 + 1'024'000);
  EXPECT_EQ(log.After(1'024'012 - 1024).text, line + "\n");
}

TEST(LogTail, RingsOnceWhenThereIsMore) {
  LogTail log;
  Wakeup bell;
  log.RingAfter(3, &bell);
  log.Append("abc");
  EXPECT_FALSE(bell.WaitFor(Duration::zero()));
  log.Append("d");
  EXPECT_TRUE(bell.WaitFor(Duration::zero()));
  log.Append("e");
  EXPECT_FALSE(bell.WaitFor(Duration::zero()));
  log.RingAfter(3, &bell);
  EXPECT_TRUE(bell.WaitFor(Duration::zero()));
}

TEST(LogTail, ANewLogBeginsAtNothingAndRingsNoOldBell) {
  LogTail log;
  Wakeup bell;
  log.Append("abc");
  log.RingAfter(3, &bell);
  log.Clear();
  log.Append("abcdef");
  EXPECT_FALSE(bell.WaitFor(Duration::zero()));
  EXPECT_EQ(log.end(), 6);
}

TEST(LogFile, HoldsAllButIsBounded) {
  const TempFolder folder;
  const std::string path = folder.File("2.log");
  LogTail log;
  log.Follow(std::make_unique<LogFile>(path));
  log.Append("first\n");
  EXPECT_EQ(*ReadFile(path), "first\n");
  const std::string line(1023, 'x');
  for (int i = 0; i < 20'000; ++i) log.Append(line + "\n");
  EXPECT_LE(std::filesystem::file_size(path), kMaxLogFileBytes);
  EXPECT_LE(std::filesystem::file_size(path + ".1"), kMaxLogFileBytes);
  log.Append("last\n");
  EXPECT_THAT(*ReadFile(path), EndsWith("x\nlast\n"));
}

TEST(LogFile, ADiskThatRefusesCostsNothingElse) {
  LogTail log;
  log.Follow(std::make_unique<LogFile>("/no/such/folder/1.log"));
  log.Append("said\n");
  EXPECT_EQ(log.Text(), "said\n");
}

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

// SPDX-License-Identifier: Apache-2.0
//
// `frostline demo` from its first line to its last, with the real programs.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/demo/demo_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class DemoFlowTest : public testing::Test {
 protected:
  // Its exit code; what it said is in output_.
  int RunDemo(const std::string& options) {
    return RunCommand(std::string(std::getenv("FROSTLINE_BIN_DIR")) +
                      "/frostline demo --dir '" + folder_.File("demo") + "' " +
                      options + " 2>&1");
  }

  int RunCommand(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    output_.clear();
    char buffer[4096];
    for (std::size_t size;
         (size = std::fread(buffer, 1, sizeof(buffer), pipe));)
      output_.append(buffer, size);
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static bool HasTrainer() {
    const std::filesystem::path bin = std::getenv("FROSTLINE_BIN_DIR");
    return std::filesystem::exists(bin / "frostline-trainer");
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(DemoFlowTest, TheSyntheticOneEndsWithTheImportanceOfEachModule) {
  ASSERT_EQ(RunDemo("--synthetic --trials 12"), 0) << output_;
  // The count at the end is that of the plan's own runs, too.
  EXPECT_THAT(output_, HasSubstr("in demo: 12 trials"));
  EXPECT_THAT(output_, HasSubstr("best trial"));
  EXPECT_THAT(output_, HasSubstr("MAIN EFFECT"));
  EXPECT_THAT(output_, HasSubstr("from the first lease"));
  EXPECT_THAT(output_, Not(HasSubstr("advice")));
}

// As a person sees it: no line runs into the next, and one knows how long it
// takes.
TEST_F(DemoFlowTest, OnATerminalItSaysWhatIsLeft) {
  const std::string command = std::string("script -qec '") +
                              std::getenv("FROSTLINE_BIN_DIR") +
                              "/frostline demo --synthetic --dir " +
                              folder_.File("demo") + "' /dev/null";
  ASSERT_EQ(RunCommand(command), 0) << output_;
  EXPECT_THAT(output_, ContainsRegex("about [0-9.ms]+ [s ]*left"));
  EXPECT_THAT(output_, ContainsRegex("[\nK]first trial after"));
}

TEST_F(DemoFlowTest, ItEndsWithThePlanThatWasRun) {
  ASSERT_EQ(RunDemo("--synthetic"), 0) << output_;
  const std::size_t seen = output_.find("LESS PLAN");
  ASSERT_NE(seen, std::string::npos) << output_;
  EXPECT_LT(output_.find("MAIN EFFECT"), seen);
  EXPECT_THAT(output_, HasSubstr("running it beside what it has to beat"));
  EXPECT_THAT(output_, HasSubstr("the plan scored"));
  // A warning that some trials show and others do not takes up to three lines.
  EXPECT_LE(std::count(output_.begin(), output_.end(), '\n'), 63) << output_;
}

TEST_F(DemoFlowTest, AFolderWithAnotherDemoInItIsRefused) {
  if (!HasTrainer()) GTEST_SKIP() << "frostline-trainer is not built";
  ASSERT_EQ(RunDemo("--synthetic --trials 1"), 0) << output_;
  // It is refused before anybody looks into these.
  const std::string model = folder_.File("model");
  std::filesystem::create_directory(model);
  for (const char* const file :
       {"config.json", "model.safetensors", "tokenizer.json"}) {
    std::ofstream(model + "/" + file) << "{}";
  }
  EXPECT_EQ(RunDemo("--model '" + model + "'"), 5);
  EXPECT_THAT(output_, HasSubstr("another study has this name"));
}

TEST_F(DemoFlowTest, ADemoThatHasEndedShowsItsReportAgain) {
  ASSERT_EQ(RunDemo("--synthetic --trials 8"), 0) << output_;
  ASSERT_EQ(RunDemo("--synthetic --trials 8"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("has ended before"));
  EXPECT_THAT(output_, HasSubstr("MAIN EFFECT"));
  EXPECT_THAT(output_, Not(HasSubstr("first lease")));
  EXPECT_EQ(RunDemo("--synthetic --trials 9"), 5) << output_;
  EXPECT_THAT(output_, HasSubstr("is one of 8 trials, not 9"));
}

TEST_F(DemoFlowTest, TheRealOneTrainsMiniLmOnReviews) {
  const auto model = cli::FindDemoModel("");
  if (!model.ok()) GTEST_SKIP() << model.status().message();
  if (!HasTrainer()) GTEST_SKIP() << "frostline-trainer is not built";
  ASSERT_EQ(RunDemo("--trials 2"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("2/2 done"));
  EXPECT_THAT(output_, Not(HasSubstr("failed")));
  EXPECT_THAT(output_, HasSubstr("best trial"));
  EXPECT_THAT(output_, HasSubstr("no finding: "));
}

}  // namespace
}  // namespace frostline::test

// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/demo/demo_registry.h"
#include "cli/process/child_process.h"
#include "cli/term/text_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/data/load.h"

namespace frostline::cli {
namespace {

using ::testing::SizeIs;

constexpr Duration kAMinute = std::chrono::minutes(1);

TEST(CapturedTest, KeepsWhatAProgramSaysAndHowItEnds) {
  ASSERT_OK_AND_ASSIGN(
      const Captured ran,
      RunCaptured({"sh", "-c", "echo out; echo err >&2; exit 3"}, kAMinute));
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
}

TEST(CapturedTest, HandsWordsOverAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(
      const Captured ran,
      RunCaptured({"printf", "%s|", "$HOME", "", "a b", "`x`"}, kAMinute));
  EXPECT_EQ(ran.out, "$HOME||a b|`x`|");
}

TEST(CapturedTest, HoldsMoreThanAPipeDoes) {
  ASSERT_OK_AND_ASSIGN(const Captured ran,
                       RunCaptured({"sh", "-c",
                                    "head -c 300000 /dev/zero; "
                                    "head -c 300000 /dev/zero >&2"},
                                   kAMinute));
  EXPECT_THAT(ran.out, SizeIs(300'000));
  EXPECT_THAT(ran.err, SizeIs(300'000));
}

TEST(CapturedTest, SaysWhichSignalEndedIt) {
  ASSERT_OK_AND_ASSIGN(const Captured ran,
                       RunCaptured({"sh", "-c", "kill -9 $$"}, kAMinute));
  EXPECT_EQ(ran.code, 137);
}

TEST(CapturedTest, KillsWhatDoesNotEnd) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      RunCaptured({"sleep", "600"}, std::chrono::milliseconds(200)).status()));
}

TEST(CapturedTest, KnowsWhatIsNotThere) {
  EXPECT_TRUE(
      absl::IsNotFound(RunCaptured({"no-such-program"}, kAMinute).status()));
}

using ::testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(30);

class ChildProcessTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& arguments) {
    return ChildProcess::Start(
        {.name = "child", .arguments = arguments, .log_file = log()});
  }
  std::string log() const { return folder_.File("log"); }
  // Until the child has said so much.
  void AwaitLog(const std::string& text) {
    while (LastLines(log(), 1) != text) std::this_thread::yield();
  }

 private:
  TempFolder folder_;
};

TEST_F(ChildProcessTest, KeepsWhatTheChildSaysAndHowItEnds) {
  ASSERT_OK_AND_ASSIGN(
      const auto child,
      Start({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}));
  ASSERT_TRUE(child->WaitFor(kLong));
  EXPECT_EQ(LastLines(log(), 9), "out\nerr");
  EXPECT_EQ(child->HowItEnded(), "ended with code 3");
}

TEST_F(ChildProcessTest, SaysWhyAProgramCannotStart) {
  const auto child = Start({"/no/such/program"});
  EXPECT_THAT(child, FailsWith(ErrorId::kTrainerStart));
  EXPECT_THAT(std::string(child.status().message()), HasSubstr("No such file"));
}

TEST_F(ChildProcessTest, StopsAChildThatObeys) {
  ASSERT_OK_AND_ASSIGN(
      const auto child,
      Start({"/bin/sh", "-c",
             "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; "
             "done"}));
  AwaitLog("up");
  child->Stop(kLong);
  EXPECT_EQ(child->HowItEnded(), "ended with code 0");
  EXPECT_EQ(LastLines(log(), 1), "bye");
}

TEST_F(ChildProcessTest, KillsAChildThatDoesNotObey) {
  ASSERT_OK_AND_ASSIGN(
      const auto child,
      Start({"/bin/sh", "-c",
             "trap '' TERM; echo up; while :; do sleep 0.01; done"}));
  AwaitLog("up");
  child->Stop(std::chrono::milliseconds(50));
  EXPECT_THAT(child->HowItEnded(), HasSubstr("signal 9"));
}

TEST_F(ChildProcessTest, LeavesNobodyBehind) {
  pid_t pid = 0;
  {
    ASSERT_OK_AND_ASSIGN(const auto child, Start({"/bin/sleep", "1000"}));
    pid = child->pid();
    EXPECT_EQ(getpgid(pid), pid);  // Ctrl-C at our terminal is not its business
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ChildProcessTest, ChildrenHearSignalsThatWeHoldBack) {
  const StopSignals held;
  ASSERT_OK_AND_ASSIGN(const auto child, Start({"/bin/sleep", "1000"}));
  child->Stop(kLong);
  EXPECT_THAT(child->HowItEnded(), HasSubstr("signal 15"));
}

TEST(StopSignals, TellsOfCtrlC) {
  StopSignals signals;
  EXPECT_OK(signals.Pause(std::chrono::milliseconds(1)));
  kill(getpid(), SIGINT);
  EXPECT_TRUE(absl::IsCancelled(signals.Pause(kLong)));
  EXPECT_TRUE(signals.caught());
  EXPECT_TRUE(absl::IsCancelled(signals.Pause(kLong)));  // ever after
}

TEST(SiblingProgram, LooksBesideTheRunningProgram) {
  EXPECT_OK(SiblingProgram("cli_process_test"));
  EXPECT_THAT(SiblingProgram("no-such-program"),
              FailsWith(ErrorId::kTrainerStart));
}

TEST(LocalFleet, FindsTheAddressOnceItsLineIsWhole) {
  EXPECT_EQ(ListenAddressIn("info x\nlistening on 127.0.0.1:4711\nmore\n"),
            "127.0.0.1:4711");
  EXPECT_EQ(ListenAddressIn("listening on 127.0.0.1:47"), "");
  EXPECT_EQ(ListenAddressIn(""), "");
  EXPECT_EQ(PageAddressIn("listening on 127.0.0.1:47\npage on http://h:1/\n"),
            "http://h:1/");
  EXPECT_EQ(PageAddressIn("listening on 127.0.0.1:47\npage on http://h"), "");
}

TEST(WorkFolder, RemovesOnlyWhatIsTemporary) {
  const TempFolder parent;
  std::string temporary;
  std::string kept;
  {
    ASSERT_OK_AND_ASSIGN(const WorkFolder a, WorkFolder::Make("", false));
    ASSERT_OK_AND_ASSIGN(const WorkFolder b,
                         WorkFolder::Make(parent.File("x/y"), false));
    temporary = a.path();
    kept = b.path();
    EXPECT_TRUE(std::filesystem::is_directory(temporary));
  }
  EXPECT_FALSE(std::filesystem::exists(temporary));
  EXPECT_TRUE(std::filesystem::is_directory(kept));
  EXPECT_THAT(WorkFolder::Make("/proc/no/such", false),
              FailsWith(ErrorId::kStoreUnwritable));
}

// The demo's registry as the trainer's own reader sees it.

class DemoRegistryTest : public testing::Test {
 protected:
  DemoRegistryTest() {
    std::filesystem::create_directories(folder_.File("model"));
    for (const char* const file :
         {"config.json", "model.safetensors", "tokenizer.json"}) {
      std::ofstream(folder_.File(std::string("model/") + file)) << file;
    }
  }

  TempFolder folder_;
};

TEST_F(DemoRegistryTest, IsOneThatATrainerReads) {
  ASSERT_OK_AND_ASSIGN(const std::string model,
                       FindDemoModel(folder_.File("model")));
  const std::string registry = folder_.File("a/registry");
  ASSERT_OK(MakeDemoRegistry(registry, model));
  Expected<trainer::DataLoader> loader = trainer::DataLoader::Open(registry);
  ASSERT_TRUE(loader.ok()) << loader.fault().cause;
  const Expected<trainer::TaskData> data =
      loader.value().Load({.id = "demo-reviews"});
  ASSERT_TRUE(data.ok()) << data.fault().cause;
  EXPECT_EQ(data.value().train.size(), 400u);
  EXPECT_EQ(data.value().validation.size(), 200u);
}

TEST_F(DemoRegistryTest, NamesTheModelWithTheSumOfItsWeights) {
  const std::string registry = folder_.File("registry");
  ASSERT_OK(MakeDemoRegistry(registry, folder_.File("model")));
  trainer::InputFile opened =
      trainer::InputFile::Open(registry + "/models.yaml").value();
  const Expected<trainer::ModelEntries> models =
      trainer::ParseModels(opened.ReadAll(1000).value(), "models.yaml");
  ASSERT_TRUE(models.ok()) << models.fault().cause;
  const trainer::ModelEntry& minilm = models.value().at("minilm");
  trainer::VerifiedFiles files(trainer::DataRoot::Open(registry).value());
  EXPECT_TRUE(
      files.Open(minilm.path + "/" + minilm.weights, minilm.sha256).ok());
}

TEST_F(DemoRegistryTest, CanBeMadeAgain) {
  const std::string registry = folder_.File("registry");
  ASSERT_OK(MakeDemoRegistry(registry, folder_.File("model")));
  EXPECT_OK(MakeDemoRegistry(registry, folder_.File("model")));
}

TEST_F(DemoRegistryTest, SaysHowToComeByAModelThatIsNotThere) {
  std::filesystem::remove(folder_.File("model/tokenizer.json"));
  const auto found = FindDemoModel(folder_.File("model"));
  EXPECT_THAT(found, FailsWith(ErrorId::kTrainerFile));
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("no tokenizer.json in " + folder_.File("model")));
}

TEST_F(DemoRegistryTest, LooksForTheModelInTheCacheThatSetUpFills) {
  setenv("FROSTLINE_CACHE", folder_.File("cache").c_str(), 1);
  const auto found = FindDemoModel("");
  unsetenv("FROSTLINE_CACHE");
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr(folder_.File("cache/demo-model-")));
}

}  // namespace
}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
//
// The doctor before machines that are well, ill and strange.
#include "cli/doctor/doctor.h"

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli::doctor {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr char kTcp[] =
    "  sl  local_address rem_address   st tx_queue\n"
    "   0: 0100007F:1B9E 00000000:0000 0A 00000000:00000000\n"   // 7070
    "   1: 0100007F:1BA0 0100007F:C350 01 00000000:00000000\n";  // 7072

class DoctorTest : public ::testing::Test {
 protected:
  DoctorTest() {
    machine_.root = folder_.path().string();
    machine_.look = [this](const std::string& folder) {
      FolderFacts facts = disk_;
      facts.nearest = folder;
      return absl::StatusOr<FolderFacts>(facts);
    };
    Put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast\nflags\t: avx2\n");
    Put("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
    Put("proc/self/limits", "Max open files  1048576  1048576  files\n");
    asked_.version = "0.1.0";
    asked_.registry = folder_.File("registry");
    for (const char* const name :
         {"frostline-coordinator", "frostline-worker"}) {
      facts_.versions[name] = std::string(name) + " 0.1.0";
    }
    facts_.versions["frostline-trainer"] =
        std::string("frostline-trainer 0.1.0, LibTorch 2.11.0");
    facts_.self_check = Captured{
        0, R"({"ok": true, "fp32_gflops": 90, "expected_gflops": 100})", ""};
    facts_.nvidia_smi = absl::NotFoundError("none");
    facts_.coordinator.address = "lab:7443";
    facts_.coordinator.info.set_version("0.1.7");
    facts_.coordinator.info.set_store("sqlite 3.40.1 at frost");
    (*facts_.coordinator.info.mutable_libraries())["SQLite"] = "3.40.1";
    facts_.coordinator.ahead_seconds = 0.2;
  }
  void Put(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Finding Ask(const std::string& name) const {
    const auto all = ExamineAll({name});
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? Finding() : all.front().finding;
  }
  std::vector<NamedFinding> ExamineAll(
      const std::vector<std::string>& only) const {
    return Examine({machine_, asked_, facts_, configuration_, configured_},
                   only);
  }

  TempFolder folder_;
  Machine machine_;
  FolderFacts disk_{"", true, true, 100 * kGiB, 0xef53};
  Asked asked_;
  Facts facts_;
  Configuration configuration_;
  absl::Status configured_;
};

TEST_F(DoctorTest, FindsNothingWhereAllIsWell) {
  std::filesystem::create_directory(asked_.registry);
  for (const NamedFinding& one : ExamineAll({})) {
    EXPECT_EQ(one.finding.status, CheckStatus::kOk)
        << one.name << ": " << one.finding.detail;
  }
  EXPECT_FALSE(HasCritical(ExamineAll({})));
}

TEST_F(DoctorTest, WhatIsNotWellHasAFix) {
  machine_.root = folder_.File("nothing");
  disk_ = {"", false, false, 0, 0x6969};
  asked_.version = "0.2.0";
  facts_.coordinator.ahead_seconds = -9;
  facts_.self_check = absl::DeadlineExceededError("slow");
  configured_ = MakeError(ErrorId::kRequestInvalid, "f:1:1: bad", "mend it");
  int ill = 0;
  for (const NamedFinding& one : ExamineAll({})) {
    if (one.finding.status == CheckStatus::kOk) continue;
    ++ill;
    EXPECT_NE(one.finding.fix, "") << one.name;
  }
  EXPECT_GE(ill, 10);
  EXPECT_TRUE(HasCritical(ExamineAll({})));
}

TEST_F(DoctorTest, ProgramsOfTwoReleasesAreCritical) {
  facts_.versions["frostline-worker"] = std::string("frostline-worker 0.0.9");
  EXPECT_EQ(Ask("versions").status, CheckStatus::kCritical);
  EXPECT_THAT(Ask("versions").detail, HasSubstr("frostline-worker is 0.0.9"));
  facts_.versions["frostline-worker"] = std::string("frostline-worker 0.1.0");
  facts_.versions["frostline-trainer"] = absl::NotFoundError("none");
  EXPECT_EQ(Ask("versions").status, CheckStatus::kOk);  // it trains elsewhere
  facts_.versions["frostline-worker"] = absl::NotFoundError("none");
  EXPECT_EQ(Ask("versions").status, CheckStatus::kWarn);
}

TEST_F(DoctorTest, AProgramThatTakesLongIsNotMissing) {
  facts_.versions["frostline-trainer"] = absl::DeadlineExceededError("slow");
  EXPECT_EQ(Ask("versions").status, CheckStatus::kOk);
  EXPECT_THAT(Ask("versions").detail,
              AllOf(HasSubstr("frostline-trainer did not answer in 3 s"),
                    Not(HasSubstr("without"))));
  facts_.versions["frostline-worker"] = absl::DeadlineExceededError("slow");
  EXPECT_EQ(Ask("versions").status, CheckStatus::kWarn);
}

TEST_F(DoctorTest, HolesAreNamedInTheTableAndToldInTheMessage) {
  const Finding found = Ask("libraries");
  EXPECT_THAT(found.detail, Not(HasSubstr("one connection")));
  EXPECT_THAT(found.in_full, HasSubstr("SQLite has the WAL-reset race (two"));
  const auto message = MessageOf({{"libraries", found}});
  EXPECT_THAT(message.DebugString(), HasSubstr("one connection"));
}

TEST_F(DoctorTest, OneSlotIsOne) {
  EXPECT_THAT(Ask("memory").detail, HasSubstr("for the one slot"));
  asked_.slots = 2;
  EXPECT_THAT(Ask("memory").detail, HasSubstr("for each of 2 slots"));
}

TEST_F(DoctorTest, TellsHolesOfTheCoordinatorsLibraries) {
  EXPECT_THAT(Ask("libraries").detail, HasSubstr("SQLite the WAL-reset race"));
  EXPECT_EQ(Ask("libraries").status, CheckStatus::kOk);  // it has no occasion
  (*facts_.coordinator.info.mutable_libraries())["SQLite"] = "3.51.3";
  EXPECT_THAT(Ask("libraries").detail, Not(HasSubstr("WAL-reset")));
  facts_.coordinator.info.add_known_holes("a new one");
  EXPECT_EQ(Ask("libraries").status, CheckStatus::kWarn);
}

TEST_F(DoctorTest, JudgesClocksByFiveSeconds) {
  facts_.coordinator.ahead_seconds = 4.9;
  EXPECT_EQ(Ask("clock").status, CheckStatus::kOk);
  facts_.coordinator.ahead_seconds = -5.1;
  EXPECT_EQ(Ask("clock").status, CheckStatus::kWarn);
  EXPECT_THAT(Ask("clock").detail, HasSubstr("5.1 s behind"));
  facts_.coordinator.ahead_seconds.reset();
  EXPECT_EQ(Ask("clock").status, CheckStatus::kSkipped);
}

TEST_F(DoctorTest, OneStudyAndOneWorkerAreSaidInTheSingular) {
  facts_.coordinator.info.set_studies(1);
  facts_.coordinator.info.set_live_workers(1);
  EXPECT_THAT(Ask("coordinator").detail, EndsWith("with 1 study and 1 worker"));
  facts_.coordinator.info.set_studies(0);
  facts_.coordinator.info.set_live_workers(2);
  EXPECT_THAT(Ask("coordinator").detail,
              EndsWith("with 0 studies and 2 workers"));
}

TEST_F(DoctorTest, ACoordinatorThatNobodyNamesMayBeAway) {
  facts_.coordinator.reached =
      MakeError(ErrorId::kCoordinatorAway, "no coordinator", "start one");
  for (const char* const name : {"coordinator", "protocol", "clock"}) {
    EXPECT_EQ(Ask(name).status, CheckStatus::kSkipped) << name;
  }
  facts_.coordinator.is_named = true;
  EXPECT_EQ(Ask("coordinator").status, CheckStatus::kWarn);
  EXPECT_EQ(Ask("coordinator").fix, "start one");
}

TEST_F(DoctorTest, AnotherLineOfVersionsIsSaid) {
  EXPECT_EQ(Ask("protocol").status, CheckStatus::kOk);  // 0.1.7 beside 0.1.0
  facts_.coordinator.info.set_version("0.2.0");
  EXPECT_EQ(Ask("protocol").status, CheckStatus::kWarn);
}

TEST_F(DoctorTest, KnowsWhoHasAPort) {
  Put("proc/net/tcp", kTcp);
  EXPECT_EQ(Ask("ports").status, CheckStatus::kWarn);
  EXPECT_THAT(Ask("ports").detail, HasSubstr("7070 is taken"));
  asked_.ports = {7072};  // a connection there is no listener
  EXPECT_EQ(Ask("ports").detail, "7072 is free");
  asked_.ports = {7070};
  facts_.coordinator.address = "127.0.0.1:7070";
  EXPECT_EQ(Ask("ports").detail, "7070 is the coordinator's");
}

TEST_F(DoctorTest, JudgesRoomAsTheCoordinatorDoes) {
  disk_.free_bytes = kGiB - 1;
  EXPECT_EQ(Ask("disk").status, CheckStatus::kWarn);
  disk_.free_bytes = kGiB / 4 - 1;
  EXPECT_EQ(Ask("disk").status, CheckStatus::kCritical);
}

TEST_F(DoctorTest, AFolderThatIsNamedMustBeFit) {
  disk_.file_system = 0x6969;
  disk_.writable = false;
  EXPECT_EQ(Ask("file_system").status, CheckStatus::kWarn);
  EXPECT_EQ(Ask("write_rights").status, CheckStatus::kWarn);
  asked_.data_is_named = true;
  EXPECT_EQ(Ask("file_system").status, CheckStatus::kCritical);
  EXPECT_THAT(Ask("file_system").detail, HasSubstr("NFS"));
  EXPECT_EQ(Ask("write_rights").status, CheckStatus::kCritical);
}

TEST_F(DoctorTest, MemoryIsThatOfTheContainer) {
  asked_.slots = 4;
  EXPECT_EQ(Ask("memory").status, CheckStatus::kOk);
  Put("sys/fs/cgroup/memory.max", "4294967296\n");
  EXPECT_EQ(Ask("memory").status, CheckStatus::kWarn);
  EXPECT_THAT(Ask("memory").fix, HasSubstr("--slots 2"));
  Put("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(Ask("memory").status, CheckStatus::kOk);
}

TEST_F(DoctorTest, JudgesSpeedByWhatTheProcessorShouldReach) {
  facts_.self_check->out =
      R"({"ok": true, "fp32_gflops": 49, "expected_gflops": 100})";
  EXPECT_EQ(Ask("speed").status, CheckStatus::kWarn);
  facts_.self_check->out = R"({"ok": false, "error": "entry 1,2"})";
  EXPECT_EQ(Ask("speed").status, CheckStatus::kCritical);
  EXPECT_THAT(Ask("speed").detail, HasSubstr("entry 1,2"));
  facts_.self_check = Captured{127, "", "libtorch.so: not found\n"};
  EXPECT_EQ(Ask("speed").status, CheckStatus::kCritical);
}

TEST_F(DoctorTest, ADriverWithoutAnAnswerIsSaid) {
  EXPECT_THAT(Ask("gpu").detail, HasSubstr("no NVIDIA GPU"));
  Put("proc/driver/nvidia/version", "NVRM version: 550.54\n");
  EXPECT_EQ(Ask("gpu").status, CheckStatus::kWarn);
  facts_.nvidia_smi = Captured{0, "H100, 80 GB, 550.54\nH100, 80 GB\n", ""};
  EXPECT_EQ(Ask("gpu").detail, "H100, 80 GB, 550.54; H100, 80 GB");
}

TEST_F(DoctorTest, FewDescriptorsAndAnOldProcessorAreSaid) {
  Put("proc/self/limits", "Max open files   256   4096   files\n");
  EXPECT_EQ(Ask("descriptors").status, CheckStatus::kWarn);
  Put("proc/cpuinfo", "processor\t: 0\nflags\t\t: sse4_2\n");
  EXPECT_EQ(Ask("processor").status, CheckStatus::kWarn);
}

TEST_F(DoctorTest, ABrokenRegistryIsCritical) {
  Put("registry/models.yaml", "models: [\n");
  EXPECT_EQ(Ask("registry").status, CheckStatus::kCritical);
  EXPECT_THAT(Ask("registry").fix, HasSubstr("frostline registry check"));
  disk_.is_there = false;
  EXPECT_EQ(Ask("registry").status, CheckStatus::kSkipped);
}

TEST_F(DoctorTest, SaysNoSecretAndNoEscape) {
  facts_.coordinator.reached = MakeError(
      ErrorId::kCoordinatorAway,
      "frost_3f9c0a51d2e47b68_0123456789abcdef@lab:1 \033[2J", "start one");
  facts_.coordinator.is_named = true;
  const std::string text =
      Render(ExamineAll({}), {}) + MessageOf(ExamineAll({})).DebugString();
  EXPECT_THAT(text, Not(HasSubstr("0123456789abcdef")));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST_F(DoctorTest, TheMessageHasFourTextsOfEach) {
  const auto message = MessageOf(ExamineAll({}));
  const auto& checks = message.fields().at("checks").list_value().values();
  ASSERT_EQ(checks.size(), static_cast<int>(CheckNames().size()));
  const auto& first = checks[0].struct_value().fields();
  EXPECT_EQ(first.at("name").string_value(), "versions");
  EXPECT_EQ(first.at("status").string_value(), "ok");
  EXPECT_EQ(first.count("detail") + first.count("fix"), 2U);
}

TEST(ThisMachine, IsRead) {
  const Machine machine = ThisMachine();
  EXPECT_THAT(machine.Read("/proc/meminfo"), HasSubstr("MemTotal"));
  EXPECT_EQ(machine.Read("/proc/no/such"), "");
  const TempFolder folder;
  ASSERT_OK_AND_ASSIGN(const FolderFacts facts,
                       machine.look(folder.File("a/b")));
  EXPECT_EQ(facts.nearest, folder.path().string());
  EXPECT_FALSE(facts.is_there);
  EXPECT_TRUE(facts.writable);
  EXPECT_GT(facts.free_bytes, 0);
  ASSERT_OK_AND_ASSIGN(const Captured ran,
                       machine.run({"echo", "hello"}, std::chrono::seconds(5)));
  EXPECT_EQ(ran.out, "hello\n");
}

}  // namespace
}  // namespace frostline::cli::doctor

// SPDX-License-Identifier: Apache-2.0
//
// kill -9 at each failpoint that a coordinator reaches, while people and
// workers do everything that can be done. Who covers which failpoint is in
// kCoveredElsewhere; what is on no list fails.
#include "base/failpoint.h"

#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "tests/fault/harness.h"

namespace frostline::test {
namespace {

namespace fs = std::filesystem;

// The suites that kill at what a coordinator under load does not reach.
struct Covered {
  std::string_view first;  // of the failpoints' names
  std::string_view last;   // both as listed in base/failpoint.h
  const char* file;
};
constexpr Covered kCoveredElsewhere[] = {
    {"transaction.written", "restore.after",
     "tests/fault/storage/failpoint_kill_test.cc"},
    {"agent.replayed", "agent.end_marked",
     "tests/worker/agent/failpoints_test.cc"},
};

std::size_t IndexOf(std::string_view name) {
  for (std::size_t i = 0; i < kFailpoints.size(); ++i) {
    if (kFailpoints[i].name == name) return i;
  }
  ADD_FAILURE() << name << " is no failpoint";
  return 0;
}

const Covered* CoveredBy(const FailpointInfo& point) {
  const std::size_t index = IndexOf(point.name);
  for (const Covered& covered : kCoveredElsewhere) {
    const bool inside =
        IndexOf(covered.first) <= index && index <= IndexOf(covered.last);
    if (inside) return &covered;
  }
  return nullptr;
}

std::vector<FailpointInfo> OfTheCoordinator() {
  std::vector<FailpointInfo> points;
  for (const FailpointInfo& point : kFailpoints) {
    if (CoveredBy(point) == nullptr) points.push_back(point);
  }
  return points;
}

std::string TextOf(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

fs::path SourceFolder() { return std::getenv("FROSTLINE_SOURCE_DIR"); }

// "commit.begin" is kCommitBegin in the code.
std::string ConstantOf(std::string_view name) {
  std::string constant = "k";
  bool upper = true;
  for (const char c : name) {
    if (c == '.' || c == '_') {
      upper = true;
      continue;
    }
    constant += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = false;
  }
  return constant;
}

TEST(FailpointListTest, EachIsPlacedInTheSourcesOnceOrMore) {
  std::string sources;
  for (const char* room : {"server", "storage", "worker", "base"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(SourceFolder() / room)) {
      if (entry.path().extension() == ".cc") sources += TextOf(entry.path());
    }
  }
  for (const FailpointInfo& point : kFailpoints) {
    EXPECT_TRUE(absl::StrContains(
        sources,
        absl::StrCat("FROSTLINE_FAILPOINT(", ConstantOf(point.name), ")")))
        << point.name << " is reached by nothing";
  }
}

TEST(FailpointListTest, WhatIsCoveredElsewhereIsNamedThere) {
  for (const FailpointInfo& point : kFailpoints) {
    const Covered* const covered = CoveredBy(point);
    if (covered == nullptr) continue;
    const std::string text = TextOf(SourceFolder() / covered->file);
    const bool named =
        absl::StrContains(text, std::string(point.name)) ||
        absl::StrContains(text, ConstantOf(point.name)) ||
        absl::StrContains(text, ": kFailpoints)");  // goes through them all
    EXPECT_TRUE(named) << covered->file << " does not reach " << point.name;
  }
}

class FailpointKill : public FaultTest,
                      public ::testing::WithParamInterface<FailpointInfo> {
 protected:
  void SetUp() override {
#ifndef FROSTLINE_FAILPOINTS
    GTEST_SKIP() << "built without failpoints";
#endif
  }

  // Where there are many visits the first are those of a quiet start.
  std::string Order() const {
    const std::string name(GetParam().name);
    const bool often =
        absl::StartsWith(name, "commit.") || absl::StartsWith(name, "reply.") ||
        absl::StartsWith(name, "grant.") || absl::StartsWith(name, "report.") ||
        absl::StartsWith(name, "finish.");
    return absl::StrCat("FROSTLINE_FAILPOINT=", name, ":kill@", often ? 20 : 1);
  }

  void BootArmed() {
    coordinator_ =
        std::make_unique<bench::CoordinatorProgram>(bench::CoordinatorSpec{
            .data = folder_.File("data"), .options = ShortLeases()});
    if (!coordinator_->Start({Order()})) {
      Died();
      ASSERT_TRUE(coordinator_->Start());
    }
    admin_ = std::make_unique<bench::AdminClient>(coordinator_->address());
    watcher_ = std::thread([this] { RestartWhenKilled(); });
  }

  void TearDown() override {
    stop_watching_ = true;
    if (watcher_.joinable()) watcher_.join();
    FaultTest::TearDown();
  }

  void Died() { killed_ = true; }

  void RestartWhenKilled() {
    int code = 0;
    while (!stop_watching_) {
      if (coordinator_->program().HasEnded(&code)) {
        if (code == -SIGKILL) Died();
        if (!coordinator_->Start()) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  // As a person's tool does: again with the same request id while nobody says
  // yes or no.
  template <typename Stub, typename Request, typename Reply>
  void Do(Stub& stub,
          grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                       Reply*),
          Request request) {
    request.set_request_id(RandomHexId());
    absl::Status status;
    for (int i = 0; i < 50; ++i) {
      status =
          admin_->Call(stub, method, request, std::chrono::seconds(5)).status();
      if (status.ok()) return;
      if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status) &&
          !absl::IsCancelled(status)) {
        break;
      }
    }
    ADD_FAILURE() << DescribeError(status);
  }

  void PeopleAtWork();

  std::thread watcher_;
  std::atomic<bool> stop_watching_{false};
  std::atomic<bool> killed_{false};
};

// Everything that writes, once.
void FailpointKill::PeopleAtWork() {
  using Studies = v1::StudyService::Stub;
  Studies& studies = admin_->studies();
  v1::EnqueueTrialsRequest enqueue;
  enqueue.set_name("studies/a");
  for (int i = 0; i < 3; ++i) {
    (*enqueue.add_trials()->mutable_values())["x0"].set_number_value(1e-4);
  }
  Do(studies, &Studies::EnqueueTrials, enqueue);
  Do(studies, &Studies::ImportTrials, bench::LoadHistory("studies/a", 20, 3));
  Do(studies, &Studies::CreateStudy, bench::LoadStudy("b", 10, 3));
  v1::StopStudyRequest stop;
  stop.set_name("studies/b");
  Do(studies, &Studies::StopStudy, stop);
  Do(studies, &Studies::CreateStudy, bench::LoadStudy("c", 10, 3));
  v1::DeleteStudyRequest remove;
  remove.set_name("studies/c");
  Do(studies, &Studies::DeleteStudy, remove);
}

TEST_P(FailpointKill, LosesNothingAcknowledged) {
  BootArmed();
  Do(admin_->studies(), &v1::StudyService::Stub::CreateStudy,
     bench::LoadStudy("a", FaultCount(60, 500), 3));
  bench::LoadOptions fleet = Fleet("studies/a", 8);
  fleet.think = std::chrono::milliseconds(60);
  fleet.chaos.repeat = 0.1;
  fleet.chaos.silence = 0.03;
  fleet.chaos.release = 0.05;
  bench::LoadRun run(fleet, clock_);
  run.Start();
  ASSERT_TRUE(Eventually([&run] { return run.held() > 3; }));
  PeopleAtWork();
  ASSERT_TRUE(run.Wait(std::chrono::minutes(2)));
  if (absl::StartsWith(std::string(GetParam().name), "drain.")) {
    coordinator_->program().Signal(SIGTERM);
  }
  record_["points"] = 1;
  EXPECT_TRUE(
      Eventually([this] { return killed_.load(); }, std::chrono::seconds(10)))
      << "the failpoint was never reached";
  record_["kills"] = killed_ ? 1 : 0;
  ExpectCompleted(run, "studies/a");
  ASSERT_OK_AND_ASSIGN(const v1::Study stopped, admin_->GetStudy("studies/b"));
  EXPECT_EQ(stopped.state(), v1::STUDY_STATE_STOPPED);
  EXPECT_THAT(admin_->GetStudy("studies/c"),
              FailsWith(ErrorId::kStudyNotFound));
}

INSTANTIATE_TEST_SUITE_P(
    All, FailpointKill, ::testing::ValuesIn(OfTheCoordinator()),
    [](const ::testing::TestParamInfo<FailpointInfo>& point) {
      return ConstantOf(point.param.name).substr(1);
    });

}  // namespace
}  // namespace frostline::test

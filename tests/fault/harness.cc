// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/harness.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "absl/strings/numbers.h"
#include "base/ids.h"

namespace frostline::test {
namespace {

using ::testing::IsEmpty;

constexpr std::size_t kShownLog = 4000;

std::int64_t Acknowledged(const bench::History& history) {
  return std::count_if(history.begin(), history.end(),
                       [](const bench::HistoryEvent& event) {
                         return event.kind == bench::HistoryEvent::Kind::kOk;
                       });
}

// Of attempts whose worker was silent for longer than its lease.
std::int64_t ExpiredLeases(const bench::StoredStudy& stored) {
  std::int64_t expired = 0;
  for (const bench::StoredTrial& trial : stored.trials) {
    for (const v1::Attempt& attempt : trial.trial.attempts()) {
      expired += attempt.state() == v1::ATTEMPT_STATE_LOST ||
                         attempt.state() == v1::ATTEMPT_STATE_SUPERSEDED
                     ? 1
                     : 0;
    }
  }
  return expired;
}

}  // namespace

int FaultCount(int usual, int night) {
  int count = 0;
  const char* const wanted = std::getenv("FROSTLINE_FAULT_COUNT");
  if (wanted != nullptr && absl::SimpleAtoi(wanted, &count)) return count;
  return std::getenv("FROSTLINE_FAULT_LONG") != nullptr ? night : usual;
}

bool IsLong() {
  return std::getenv("FROSTLINE_FAULT_LONG") != nullptr ||
         std::getenv("FROSTLINE_FAULT_COUNT") != nullptr;
}

void FaultTest::TearDown() {
  if (!HasFailure() || coordinator_ == nullptr) return;
  const std::string log = coordinator_->program().Log();
  std::cerr << "the coordinator said:\n"
            << log.substr(log.size() - std::min(log.size(), kShownLog)) << "\n";
}

void FaultTest::Boot(const Words& options, const Words& environment) {
  coordinator_ = std::make_unique<bench::CoordinatorProgram>(
      bench::CoordinatorSpec{.data = folder_.File("data"),
                             .options = options,
                             .environment = environment});
  ASSERT_TRUE(coordinator_->Start()) << coordinator_->program().Log();
  admin_ = std::make_unique<bench::AdminClient>(coordinator_->address());
}

void FaultTest::Crash() {
  coordinator_->Kill();
  ASSERT_TRUE(coordinator_->Start()) << coordinator_->program().Log();
}

std::string FaultTest::Create(const std::string& id, std::int64_t trials) {
  EXPECT_OK(admin_->Call(admin_->studies(),
                         &v1::StudyService::Stub::CreateStudy,
                         bench::LoadStudy(id, trials, 3)));
  return StudyNameOf(id);
}

bench::LoadOptions FaultTest::Fleet(const std::string& study,
                                    int workers) const {
  bench::LoadOptions options;
  options.connect = coordinator_->address();
  options.study = study;
  options.workers = workers;
  options.reports = 2;
  options.measurements = 5;
  options.think = std::chrono::milliseconds(20);
  options.wait = std::chrono::seconds(2);
  options.patience = std::chrono::seconds(3);
  options.chaos.silent_for = std::chrono::milliseconds(1500);
  options.keep_history = true;
  return options;
}

void FaultTest::ExpectCompleted(bench::LoadRun& run, const std::string& study,
                                Duration longest) {
  EXPECT_TRUE(run.Wait(longest)) << "the study never ended";
  const bench::StoredStudy stored = ExpectHonest(run, study);
  EXPECT_EQ(stored.study.state(), v1::STUDY_STATE_COMPLETED);
}

bench::StoredStudy FaultTest::ExpectHonest(bench::LoadRun& run,
                                           const std::string& study) {
  run.Stop();
  const auto stored = admin_->ReadStudy(study, true);
  EXPECT_OK(stored);
  if (!stored.ok()) return {};
  const auto wrong = bench::CheckHistory(run.history(), *stored);
  EXPECT_THAT(wrong, IsEmpty());
  record_["trials"] += static_cast<std::int64_t>(stored->trials.size());
  record_["acknowledged"] += Acknowledged(run.history());
  record_["expired_leases"] += ExpiredLeases(*stored);
  record_.AddViolations(wrong.size());
  if (HasFailure()) {
    std::cerr << run.figures().Describe(run.measured())
              << stored->study.counts().DebugString();
    const char* const kept = std::getenv("FROSTLINE_FAULT_HISTORY");
    std::ofstream file(kept == nullptr ? "/dev/null" : kept);
    bench::WriteHistory(run.history(), file);
  }
  return *stored;
}

bool FaultTest::Eventually(const std::function<bool()>& holds,
                           Duration longest) const {
  const SteadyTime until = clock_.Steady() + longest;
  while (!holds()) {
    if (clock_.Steady() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace frostline::test

// SPDX-License-Identifier: Apache-2.0
//
// File: harness.h
//
// What the fault tests share: the real coordinator on a folder of the test's
// own, a fleet of virtual workers, and at the end the judge.
#ifndef FROSTLINE_TESTS_FAULT_HARNESS_H_
#define FROSTLINE_TESTS_FAULT_HARNESS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gmock/gmock.h"
#include "tests/bench/load/admin_client.h"
#include "tests/bench/load/load_run.h"
#include "tests/bench/load/program.h"
#include "tests/support/record.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {

// How many kills, trials or rounds: FROSTLINE_FAULT_COUNT=n, or `night` with
// FROSTLINE_FAULT_LONG.
int FaultCount(int usual, int night);
// A run may take long: one of the two is set.
bool IsLong();

class FaultTest : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  // Leases of one second, so that losses happen within the test.
  static Words ShortLeases() {
    return {"--lease-ttl", "1s", "--restart-grace", "500ms"};
  }

  void TearDown() override;

  // Starts the coordinator on folder_/data.
  void Boot(const Words& options = ShortLeases(),
            const Words& environment = {});
  // kill -9, and a start on the same folder and port.
  void Crash();

  std::string Create(const std::string& id, std::int64_t trials);
  // A fleet that reports ten measurements for each trial and keeps its history.
  bench::LoadOptions Fleet(const std::string& study, int workers) const;

  // Waits for the run to end by itself, then judges it; the study must have
  // completed.
  void ExpectCompleted(bench::LoadRun& run, const std::string& study,
                       Duration longest = std::chrono::seconds(90));
  // For a run whose length FaultCount() gives.
  static Duration Patience() { return std::chrono::minutes(IsLong() ? 60 : 2); }
  // Only judges; the run is stopped.
  bench::StoredStudy ExpectHonest(bench::LoadRun& run,
                                  const std::string& study);

  // False when `holds` never does.
  bool Eventually(const std::function<bool()>& holds,
                  Duration longest = std::chrono::seconds(30)) const;

  const TempFolder folder_;
  const SystemClock clock_;
  std::unique_ptr<bench::CoordinatorProgram> coordinator_;
  std::unique_ptr<bench::AdminClient> admin_;
  // What was acknowledged, and what the judge found wrong; a test adds what it
  // did.
  Record record_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_HARNESS_H_

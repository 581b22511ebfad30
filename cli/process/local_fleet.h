// SPDX-License-Identifier: Apache-2.0
//
// File: local_fleet.h
#ifndef FROSTLINE_CLI_PROCESS_LOCAL_FLEET_H_
#define FROSTLINE_CLI_PROCESS_LOCAL_FLEET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/process/child_process.h"

namespace frostline::cli {

class LocalFleet {
 public:
  explicit LocalFleet(const std::string& folder) : folder_(folder) {}
  ~LocalFleet() { Stop(); }
  LocalFleet(const LocalFleet&) = delete;
  LocalFleet& operator=(const LocalFleet&) = delete;

  // Returns when the coordinator listens, or COORDINATOR_AWAY after 20 s.
  absl::Status StartCoordinator(StopSignals& signals);
  // REQUIRES: the coordinator listens. `trainer` has arguments of the workers,
  // which together use the machine's cores once.
  absl::Status StartWorkers(int count, const std::vector<std::string>& trainer);

  // Answers TRAINER_EXITED with the last lines of its log when one has ended.
  absl::Status Check();

  // Stops workers first, so that they can hand back what they hold. It is
  // idempotent.
  void Stop();

  const std::string& address() const { return address_; }  // HOST:PORT

 private:
  absl::Status Start(const std::string& name, const std::string& program,
                     const std::vector<std::string>& arguments);

  std::string folder_;
  std::string address_;
  std::vector<std::unique_ptr<ChildProcess>> children_;  // coordinator first
};

// Answers TRAINER_START when the trainer's program is not beside ours.
absl::StatusOr<std::vector<std::string>> SyntheticTrainer();
absl::StatusOr<std::vector<std::string>> RealTrainer(
    const std::string& registry);

// Returns "" while no whole line says "listening on HOST:PORT".
std::string ListenAddressIn(const std::string& output);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_LOCAL_FLEET_H_

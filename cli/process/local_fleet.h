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

// A coordinator and workers on this machine, stopped with the object.
class LocalFleet {
 public:
  explicit LocalFleet(const std::string& folder) : folder_(folder) {}
  ~LocalFleet() { Stop(); }
  LocalFleet(const LocalFleet&) = delete;
  LocalFleet& operator=(const LocalFleet&) = delete;

  // Starts the coordinator and waits until it listens. Returns COORDINATOR_AWAY
  // after 20 s.
  absl::Status StartCoordinator(StopSignals& signals);
  // Starts the workers. `trainer` holds arguments for them. Together they use
  // each core of the machine once. REQUIRES: the coordinator listens.
  absl::Status StartWorkers(int count, const std::vector<std::string>& trainer);

  // Returns TRAINER_EXITED, with the last lines of the log, when one of the
  // programs has ended.
  absl::Status Check();

  // Stops the workers first, so that they can hand back their trials. It is
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

// Return the arguments for the trainer. Return TRAINER_START when the trainer's
// program is not beside ours.
absl::StatusOr<std::vector<std::string>> SyntheticTrainer();
absl::StatusOr<std::vector<std::string>> RealTrainer(
    const std::string& registry);

// Returns the address in the line "listening on HOST:PORT", or "" while there
// is no complete line of this kind.
std::string ListenAddressIn(const std::string& output);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_LOCAL_FLEET_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: world.h
//
// The same scenario, twice: with everything in one process, and with the real
// binaries on loopback. A scenario speaks to a World and cannot tell which.
#ifndef FROSTLINE_TESTS_FLOW_WORLD_H_
#define FROSTLINE_TESTS_FLOW_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::test {

enum class Temper {
  kDiligent,  // finishes each trial after a moment
  kStuck,     // takes a trial and never finishes it
};

class World {
 public:
  virtual ~World() = default;

  virtual absl::Status CreateStudy(const v1::CreateStudyRequest& request) = 0;
  virtual absl::StatusOr<v1::Study> GetStudy(const std::string& name) = 0;
  virtual absl::StatusOr<std::vector<v1::Trial>> ListTrials(
      const std::string& study) = 0;

  virtual void StartWorker(const std::string& id, Temper temper) = 0;
  // Without a word: kill -9, or what comes nearest to it in one process.
  virtual void KillWorker(const std::string& id) = 0;
  // The coordinator ends (kill -9 where it can) and starts again on the same
  // data.
  virtual void RestartCoordinator() = 0;
};

std::unique_ptr<World> MakeInProcessWorld();
std::unique_ptr<World> MakeRealWorld();

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FLOW_WORLD_H_

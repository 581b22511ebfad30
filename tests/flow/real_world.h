// SPDX-License-Identifier: Apache-2.0
//
// File: real_world.h
//
// A world of the real binaries on loopback, in a folder of its own. All that
// it started ends with it.
#ifndef FROSTLINE_TESTS_FLOW_REAL_WORLD_H_
#define FROSTLINE_TESTS_FLOW_REAL_WORLD_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frostline/v1/study_service.grpc.pb.h"
#include "tests/flow/world.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {

class RealWorld final : public World {
 public:
  RealWorld() { StartCoordinator("127.0.0.1:0"); }
  ~RealWorld() override;

  absl::Status CreateStudy(const v1::CreateStudyRequest& request) override;
  absl::StatusOr<v1::Study> GetStudy(const std::string& name) override;
  absl::StatusOr<std::vector<v1::Trial>> ListTrials(
      const std::string& study) override;

  absl::StatusOr<v1::GetTrialLogReply> GetTrialLog(
      const v1::GetTrialLogRequest& request);
  // The codes of the reasons why the study does not go on.
  absl::StatusOr<std::vector<std::string>> Explain(const std::string& study);

  void StartWorker(const std::string& id, Temper temper) override;
  // With these options besides --connect and --id.
  void StartWorkerWith(const std::string& id,
                       const std::vector<std::string>& options);
  void KillWorker(const std::string& id) override;
  // SIGTERM: it hands its trials back. Returns its exit code.
  int DrainWorker(const std::string& id);
  void RestartCoordinator() override;

  const TempFolder& folder() const { return folder_; }
  const std::string& address() const { return address_; }
  static std::string Binary(const std::string& name);

 private:
  void StartCoordinator(const std::string& listen);
  // "listening on HOST:PORT"
  bool ReadAddress(const std::string& log);

  const TempFolder folder_;
  std::string address_;
  pid_t coordinator_ = 0;
  std::map<std::string, pid_t> workers_;
  std::unique_ptr<v1::StudyService::Stub> stub_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FLOW_REAL_WORLD_H_

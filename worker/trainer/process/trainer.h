// SPDX-License-Identifier: Apache-2.0
//
// File: trainer.h
//
// Takes one trial after the other and keeps what is loaded. What is wrong with
// a trial ends that trial alone.
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_TRAINER_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_TRAINER_H_

#include <string>

#include "worker/trainer/process/inbox.h"
#include "worker/trainer/process/outbox.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {

struct TrainerParts {
  Inbox& inbox;
  Outbox& outbox;
  Workbench& workbench;
  TrialEnvironment environment;
  std::string software;  // "frostline-trainer 0.1.0, LibTorch 2.11.0"
};

class Trainer {
 public:
  explicit Trainer(const TrainerParts& parts);

  // Says hello and works until there is no more to do, or nobody to hear it.
  void Run();

 private:
  TrialEnd RunTrial(const std::string& line);
  TrialEnd Train(const TrialMessage& trial, TrialListener& listener);
  TrialEnd RefuseUnfit(const Fault& why) const;

  TrainerParts parts_;
  CompanyBook companies_;
  const std::vector<std::string> precisions_;  // at full speed
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_TRAINER_H_

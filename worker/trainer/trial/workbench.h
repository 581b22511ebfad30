// SPDX-License-Identifier: Apache-2.0
//
// File: workbench.h
//
// Keeps pretrained weights, data sets and tokens from trial to trial.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_WORKBENCH_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_WORKBENCH_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/data/load.h"
#include "worker/trainer/data/token_store.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/trial/model_shelf.h"
#include "worker/trainer/trial/shelf.h"
#include "worker/trainer/trial/trial_message.h"

namespace frostline::trainer {

struct EvaluationSet {
  std::string name;  // before its metrics: "" for validation, "test.", "imdb."
  DataPart part;
  std::shared_ptr<const TokenStore> tokens;
};

struct TrialSetup {
  HeadSpec head;
  std::shared_ptr<const Pretrained> pretrained;
  std::shared_ptr<const TaskData> data;
  std::shared_ptr<const TokenStore> train;
  EvaluationSet validation;
  std::vector<EvaluationSet> others;  // evaluated once, at the end
};

// One thread uses it.
class Workbench {
 public:
  // `registry` is the operator's folder, with datasets.yaml and models.yaml.
  static Expected<Workbench> Open(const std::string& registry,
                                  const Device& device);

  // `log` hears what had to be loaded, a line each. Returns kStopped within a
  // row, a tensor or a mebibyte of `stop`; what was loaded whole stays.
  Expected<TrialSetup> Prepare(const TrialMessage& trial, const StopSign& stop,
                               std::vector<std::string>& log);

 private:
  Workbench(DataLoader data, ModelShelf models)
      : data_loader_(std::move(data)), models_(std::move(models)) {}

  Expected<std::shared_ptr<const TaskData>> Data(const TrialMessage& trial,
                                                 const StopSign& stop,
                                                 std::vector<std::string>& log);
  Expected<std::shared_ptr<const TokenStore>> Tokens(
      const DataPart& part, const TrialMessage& trial,
      const Pretrained& pretrained, const StopSign& stop);
  // `name` is "test", or the id of a data set.
  Expected<Done> AddOther(const TrialMessage& trial, const std::string& name,
                          const StopSign& stop, TrialSetup& setup);

  DataLoader data_loader_;
  ModelShelf models_;
  Shelf<DataRequest, TaskData> data_{4};
  Shelf<std::pair<DataRequest, std::string>, DataPart> others_{16};
  Shelf<std::string, TokenStore> tokens_{24};
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_WORKBENCH_H_

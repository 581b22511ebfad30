// SPDX-License-Identifier: Apache-2.0
//
// File: workbench.h
//
// Keeps pretrained weights, data sets and tokens from trial to trial.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_WORKBENCH_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_WORKBENCH_H_

#include <memory>
#include <set>
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
  // Before its metrics: "" for validation, "test.", "imdb."; of a task "sst."
  // and "sst.test.".
  std::string name;
  DataPart part;
  std::shared_ptr<const TokenStore> tokens;
};

struct TaskSetup {
  TaskRequest request;
  HeadSpec head;
  std::shared_ptr<const TaskData> data;
  std::shared_ptr<const TokenStore> train;
  EvaluationSet validation;
  std::vector<EvaluationSet> others;  // evaluated once, at the end
  // Of these sets predictions are written: "validation", "train", or others'.
  std::set<std::string> predicted;

  // "test", or the id of a data set.
  std::string SetOf(const EvaluationSet& other) const {
    const std::size_t before = request.prefix().size();
    return other.name.substr(before, other.name.size() - before - 1);
  }
};

struct TrialSetup {
  std::shared_ptr<const Pretrained> pretrained;
  std::vector<TaskSetup> tasks;  // one or more

  Heads heads() const;
  bool many() const { return tasks.size() > 1 || !tasks[0].head.name.empty(); }
};

// How many tokens of a text a trial reads at most, special ones included.
std::int64_t LongestText(const TrainingSettings& training,
                         const ModelConfig& config);

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

  Expected<std::shared_ptr<const TaskData>> Data(const DataRequest& request,
                                                 const StopSign& stop,
                                                 std::vector<std::string>& log);
  Expected<std::shared_ptr<const TokenStore>> Tokens(
      const DataPart& part, const TrialMessage& trial, const HeadSpec& head,
      const Pretrained& pretrained, const StopSign& stop);
  Expected<Done> AddTokens(const TrialMessage& trial,
                           const Pretrained& pretrained, const StopSign& stop,
                           TaskSetup& task);
  // `name` is "test", or the id of a data set.
  Expected<Done> AddOther(const TrialMessage& trial, const std::string& name,
                          const Pretrained& pretrained, const StopSign& stop,
                          TaskSetup& task);

  DataLoader data_loader_;
  ModelShelf models_;
  Shelf<DataRequest, TaskData> data_{16};
  Shelf<std::pair<DataRequest, std::string>, DataPart> others_{32};
  Shelf<std::string, TokenStore> tokens_{64};
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_WORKBENCH_H_

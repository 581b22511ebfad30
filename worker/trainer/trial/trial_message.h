// SPDX-License-Identifier: Apache-2.0
//
// File: trial_message.h
//
// Reads the message `trial` of docs/reference/trainer-protocol.md.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_MESSAGE_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/trial/training_settings.h"

namespace frostline::trainer {

// What a trial is to learn: one of the message's `tasks`, or its `data` and
// `training.head` as the only one.
struct TaskRequest {
  std::string name;  // empty: the only one
  DataRequest data;
  HeadSpec head;  // task and outputs follow from the data
  std::string loss;
  double share = 0.0;  // 0, for all tasks: by their rows
  double loss_weight = 1.0;
  std::set<std::string> freeze;  // modules that its batches do not train

  // Returns the field's name in faults: "tasks.sst.data" for the task sst, else
  // "data".
  std::string FieldOf(const std::string& name) const;
  // Returns the prefix of its metrics: "sst.".
  std::string prefix() const { return name.empty() ? "" : name + "."; }
};

// Reads the tasks from the whole message. `training` is what was read from it
// before. A fault names the field.
Expected<std::vector<TaskRequest>> ReadTaskRequests(
    const JsonValue& message, const TrainingSettings& training);

// A metric, and whether more of it is better.
struct TrialObjective {
  std::string metric;
  bool maximize = true;
};

// The pretrained model that a trial asks for. Trials with equal requests train
// the same weights.
struct ModelRequest {
  std::string id;
  std::int64_t layers = 0;  // 0: not said
  std::string sha256;       // empty: the registry's

  friend bool operator==(const ModelRequest&, const ModelRequest&) = default;
};

// The message `trial`, read and checked.
struct TrialMessage {
  std::string trial;  // "studies/imdb/trials/17"
  std::int64_t attempt = 1;
  std::uint64_t seed = 0;
  ModuleRates rates;
  std::set<std::string> searched;  // the names of its parameters
  std::vector<TrialObjective> objectives;
  ModelRequest model;
  std::vector<TaskRequest> tasks;  // one or more
  TrainingSettings training;
  // What `auto` stands for as the study's precision, once its first trial said
  // so.
  std::string auto_precision;
  bool takes_precision = false;    // the agent takes reports of it
  bool takes_progress = false;     // … of how far it is
  bool takes_evaluations = false;  // … outcomes of every set
  bool takes_audit = false;        // … the audit of freezing
  std::string folder;              // this attempt's own, absolute
  std::string resume_path;         // empty: from the beginning
  std::int64_t resume_step = 0;
  // The SHA-256 of what is asked for, equal for every attempt at this trial.
  std::string identity;
};

// Reads the message and ignores unknown fields. A fault names the field that is
// wrong.
Expected<TrialMessage> ReadTrialMessage(const JsonValue& message);

// Returns why a device that computes in `precisions` at full speed cannot take
// the trial: the study's first trial was computed in another one. Returns
// nothing if the device can.
std::optional<Fault> WhyUnfit(const TrialMessage& trial,
                              const std::vector<std::string>& precisions);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_MESSAGE_H_

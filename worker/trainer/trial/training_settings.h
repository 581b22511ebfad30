// SPDX-License-Identifier: Apache-2.0
//
// File: training_settings.h
//
// Reads the contract's Training, with defaults, and with the trial's parameters
// in the place of what the study fixed.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRAINING_SETTINGS_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRAINING_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/bottleneck.h"
#include "worker/trainer/model/lora.h"
#include "worker/trainer/train/gradient_surgery.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/schedule.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {

struct EarlyStoppingSettings {
  std::string metric;  // empty: none
  int patience = 1;
  double min_delta = 0.0;
};

// By default both texts are read as one; with `extra: {head: cosine}` each is
// read on its own.
struct PairSettings {
  bool cosine = false;
  Pooling pooling = Pooling::kFirst;
  double scale = 5.0;
};

// Of the labels in the loss of steps; by default all weigh the same.
struct ClassWeights {
  bool balanced = false;
  std::vector<double> given;  // in the order of the labels

  bool any() const { return balanced || !given.empty(); }
};

// How batches of several tasks follow each other: each of a task drawn by its
// share; in turn, so that shares always hold; or all rows drawn from as one
// set, without replacement, and a batch split by task.
enum class TaskMixing : std::uint8_t { kRandom, kInProportion, kJoined };

struct TrainingSettings {
  std::int64_t epochs = 3;
  std::int64_t max_steps = 0;  // 0: as many as the epochs have
  std::int64_t batch_size = 32;
  std::int64_t batch_tokens = 0;  // 0: batch_size rules
  bool bucket = true;             // texts of about one length together
  std::int64_t max_length = 0;    // 0: 128, or the model's most
  std::int64_t accumulation = 1;
  OptimizerOptions optimizer;
  std::optional<std::vector<std::string>> no_decay;  // parts of names
  ScheduleKind schedule = ScheduleKind::kLinear;
  double warmup_share = 0.0;
  std::int64_t warmup_steps = 0;
  double clip_norm = 1.0;
  double label_smoothing = 0.0;
  ClassWeights class_weights;
  std::optional<double> dropout;  // instead of the model's own
  EarlyStoppingSettings early_stopping;
  bool keep_best = true;                  // of the evaluations; else the last
  std::int64_t evaluate_every_steps = 0;  // 0: once an epoch
  std::int64_t report_every_steps = 0;    // 0: at evaluations alone
  std::int64_t unfreeze_every_steps = 0;  // 0: all at once
  std::int64_t unfreeze_every_epochs = 0;
  std::string precision = "auto";
  bool report_example_outcomes = false;
  bool export_model = false;
  std::uint64_t seed = 0;  // 0: the trial's
  std::vector<std::string> also_evaluate;
  std::vector<std::string> predictions;  // sets that are written to files
  PairSettings pair;
  TaskMixing mixing = TaskMixing::kRandom;
  Surgery surgery = Surgery::kNone;
  bool tasks_alike = false;  // in a step, however many examples each has
  LoraSpec lora;
  BottleneckSpec bottleneck;
  SmartOptions smart;
  double virtual_tau = 0.0;
  double virtual_audit = 0.0;  // share of trials that train without it, too
  FreezeSemantics freeze;
};

// `trial` is the whole message. Returns kMisuse naming the field for what is
// out of range, an unknown word, a parameter without effect, and for what does
// not go together.
Expected<TrainingSettings> ReadTrainingSettings(const JsonValue& trial);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRAINING_SETTINGS_H_

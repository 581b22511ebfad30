// SPDX-License-Identifier: Apache-2.0
//
// File: training_settings.h
//
// Reads the contract's Training. Defaults fill what is missing, and the trial's
// parameters replace what the study fixed.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRAINING_SETTINGS_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRAINING_SETTINGS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "base/plain/training_table.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/freeze/layer_rules.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {

// A reader of settings that checks them by the rows of
// base/plain/training_table.h: type, bounds and default. Like RequestFields it
// keeps the first fault. A key without a row is a fault.
class SettingFields {
 public:
  // `block` says which rows to use, and `where` names them in faults. A setting
  // is looked for in the trial's `parameters` (null: none) by the name under
  // which it is searched, then in `study`. All outlive this.
  SettingFields(std::string block, const std::string& where,
                const JsonValue* parameters, const JsonValue* study);

  // Return the setting. There must be a row of this name and kind.
  std::int64_t Whole(std::string_view name);
  std::int64_t Whole(std::string_view name, std::int64_t unless_given);
  double Number(std::string_view name);
  // Returns the place of the setting among the row's words.
  std::size_t Word(std::string_view name);
  // Returns the value for the setting's word. `values` has the order of the
  // row's words.
  template <typename Value, std::size_t N>
  Value OneOf(std::string_view name, const std::array<Value, N>& values) {
    return values[Word(name)];
  }
  std::string Text(std::string_view name) { return study_.Text(name); }
  std::vector<std::string> Texts(std::string_view name) {
    return study_.Texts(name);
  }
  bool Switch(std::string_view name) { return study_.Flag(name); }
  std::uint64_t Bits(std::string_view name);
  bool Has(std::string_view name) const;
  // Returns what the study has, of any kind, or null if it is absent or null.
  const JsonValue* Given(std::string_view name) const {
    return study_.Find(name);
  }

  void Fail(std::string_view name, const std::string& what,
            const std::string& fix) {
    study_.Fail(name, what, fix);
  }
  std::optional<Fault> fault() const;

 private:
  const SettingRow& RowOf(std::string_view name) const;
  // Returns where to read the setting: the parameters if the trial searches it,
  // else the study. `name` receives its name there.
  RequestFields& SourceOf(const SettingRow& row, std::string_view* name);

  std::string block_;
  RequestFields searched_;
  RequestFields study_;
};

// Finds a parameter that has no effect: it is neither a setting that may be
// searched, nor a rate, nor a tie. Kept, it would look like a parameter that
// does not matter.
std::optional<Fault> IdleParameter(const JsonValue& trial);

struct EarlyStoppingSettings {
  std::string metric;  // empty: none
  int patience = 1;
  double min_delta = 0.0;
};

// How a pair of texts is read. By default both are read as one; with `extra:
// {head: cosine}` each is read on its own.
struct PairSettings {
  bool cosine = false;
  Pooling pooling = Pooling::kFirst;
  double scale = 5.0;
};

// The weights of labels in the loss of steps. By default all weigh the same.
struct ClassWeights {
  bool balanced = false;
  std::vector<double> given;  // in the order of the labels

  bool any() const { return balanced || !given.empty(); }
};

// How batches of several tasks follow each other. kRandom draws the task of
// each batch by its share. kInProportion takes tasks in turn, so that shares
// always hold. kJoined draws all rows from one joined set, without replacement,
// and splits each batch by task.
enum class TaskMixing : std::uint8_t { kRandom, kInProportion, kJoined };

// The settings of one trial's training, checked and complete.
struct TrainingSettings {
  std::int64_t epochs = 3;
  std::int64_t max_steps = 0;  // 0: as many as the epochs have
  std::int64_t batch_size = 32;
  std::int64_t batch_tokens = 0;  // 0: batch_size rules
  bool bucket = true;             // texts of about one length together
  bool recompute = false;         // layers, on the way back
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
  LayerChoice layers;
};

// Reads the settings from `trial`, the whole message. Returns kMisuse with the
// field's name for a value out of range, an unknown word, a parameter without
// effect, or settings that contradict each other.
Expected<TrainingSettings> ReadTrainingSettings(const JsonValue& trial);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRAINING_SETTINGS_H_

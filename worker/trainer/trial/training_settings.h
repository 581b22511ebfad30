// SPDX-License-Identifier: Apache-2.0
//
// File: training_settings.h
//
// Reads the contract's Training, with defaults, and with the trial's parameters
// in the place of what the study fixed.
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
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {

// Takes settings by the rows of base/plain/training_table.h: type, bounds and
// default. As RequestFields, it keeps the first fault, and a key that has no
// row is one.

class SettingFields {
 public:
  // `block` is that of the rows, `where` names them in faults. A setting is
  // looked for in the trial's parameters first (null: none), by the name that
  // it is searched by, then in `study`. All outlive this.
  SettingFields(std::string block, const std::string& where,
                const JsonValue* parameters, const JsonValue* study);

  // There must be a row of this name, of this kind.
  std::int64_t Whole(std::string_view name);
  std::int64_t Whole(std::string_view name, std::int64_t unless_given);
  double Number(std::string_view name);
  // Says which of the row's words it is.
  std::size_t Word(std::string_view name);
  // `values` are in the order of the row's words.
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
  // As the study has it, of any kind; null when it is absent or null.
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
  // Returns the parameters where the trial searches it, else the study, and its
  // name there.
  RequestFields& SourceOf(const SettingRow& row, std::string_view* name);

  std::string block_;
  RequestFields searched_;
  RequestFields study_;
};

// Finds a parameter that is neither a setting which may be searched, nor a rate
// or a tie: it would look like one that does not matter.
std::optional<Fault> IdleParameter(const JsonValue& trial);

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

// How labels weigh in the loss of steps; by default all weigh the same.
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

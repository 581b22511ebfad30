// SPDX-License-Identifier: Apache-2.0
//
// File: settings.h
//
// What a study says about training, held against base/plain/training_table.h.
#ifndef FROSTLINE_SERVER_WIRE_SETTINGS_H_
#define FROSTLINE_SERVER_WIRE_SETTINGS_H_

#include <google/protobuf/struct.pb.h>

#include <string>

#include "absl/status/status.h"
#include "base/plain/training_table.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// Holds one value of a study against its row of base/plain/training_table.h.
// An error is REQUEST_INVALID at `field`; it says what the row allows, and of
// words the one that was probably meant.

// Null and an empty text are what no study gave, and pass.
absl::Status CheckSetting(const SettingRow& row,
                          const google::protobuf::Value& value,
                          const std::string& field);

// The same of a word.
absl::Status CheckWord(const SettingRow& row, const std::string& word,
                       const std::string& field);

// What only a trial could tell of a study's words before: kinds of tasks, maps
// that have adapters, sets that are too many, modules that no task freezes.
// What the trainer takes is in base/plain/training_table.h.
//
// Answers REQUEST_INVALID naming the field. Only new studies are checked.
absl::Status CheckNamedWords(const v1::StudySpec& spec);

// `training.predictions` names sets that a trial evaluates: `validation` (also
// called `dev`), `train`, `test` where the data have a test split, and the ids
// of `also_evaluate`. Of several tasks each must have the set.
//
// Answers REQUEST_INVALID at "training.predictions[0]", as our trainer would
// fail the first trial.
absl::Status CheckPredictedSets(const v1::StudySpec& spec);

// Settings that the contract gives no type: those of `training.extra`, and the
// parameters of the space that stand for one (`optimizer: [adam, sgd]`). Both
// may as well be for a trainer of the user's own, so they are held against
// base/plain/training_table.h only where a study names a model, without which
// ours trains nothing, and names that have no row pass.
//
// Answers REQUEST_INVALID naming the field.
absl::Status CheckUntypedSettings(const v1::StudySpec& spec);

// Holds what a study says about training against base/plain/training_table.h,
// so that a number or a word that no trial could train with is refused at once,
// as are names that would give two metrics one name.
//
// Answers REQUEST_INVALID naming the field. Only new studies are checked:
// stored ones stay readable when bounds become narrower.
absl::Status CheckTrainingBounds(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SETTINGS_H_

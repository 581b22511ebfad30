// SPDX-License-Identifier: Apache-2.0
//
// File: settings.h
//
// Checks of what a study says about training, by the rows of
// base/plain/training_table.h.
#ifndef FROSTLINE_SERVER_WIRE_SETTINGS_H_
#define FROSTLINE_SERVER_WIRE_SETTINGS_H_

#include <google/protobuf/struct.pb.h>

#include <string>

#include "absl/status/status.h"
#include "base/plain/training_table.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// Checks one value of a study by its row of base/plain/training_table.h. The
// error is REQUEST_INVALID at `field`; it says what the row allows and, for a
// word, which one was probably meant.

// Null and an empty text mean that the study gave no value; they pass.
absl::Status CheckSetting(const SettingRow& row,
                          const google::protobuf::Value& value,
                          const std::string& field);

// Does the same for a word.
absl::Status CheckWord(const SettingRow& row, const std::string& word,
                       const std::string& field);

// Checks words of a study that otherwise only a trial could find wrong: kinds
// of tasks, maps that have adapters, too many sets, modules that no task
// freezes. What the trainer takes is in base/plain/training_table.h.
//
// The error is REQUEST_INVALID and names the field. Only new studies are
// checked.
absl::Status CheckNamedWords(const v1::StudySpec& spec);

// Checks the sets in `training.predictions`. A trial evaluates `validation`
// (also called `dev`), `train`, `test` if the data have a test split, and the
// ids of `also_evaluate`. With several tasks each one must have the set.
//
// The error is REQUEST_INVALID at "training.predictions[0]"; without this check
// our trainer would fail the first trial.
absl::Status CheckPredictedSets(const v1::StudySpec& spec);

// Checks settings to which the contract gives no type: those of
// `training.extra`, and the parameters of the space that stand for one
// (`optimizer: [adam, sgd]`). Both may be meant for a trainer of the user's
// own. So they are checked by base/plain/training_table.h only when the study
// names a model, without which our trainer trains nothing; names that have no
// row pass.
//
// The error is REQUEST_INVALID and names the field.
absl::Status CheckUntypedSettings(const v1::StudySpec& spec);

// Checks all that a study says about training by base/plain/training_table.h,
// so that a number or word that no trial could train with is refused at once.
// It also refuses names that would give two metrics the same name.
//
// The error is REQUEST_INVALID and names the field. Only new studies are
// checked: stored ones stay readable when bounds become narrower.
absl::Status CheckTrainingBounds(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SETTINGS_H_

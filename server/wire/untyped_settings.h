// SPDX-License-Identifier: Apache-2.0
//
// File: untyped_settings.h
//
// Settings that the contract gives no type: those of `training.extra`, and the
// parameters of the space that stand for one (`optimizer: [adam, sgd]`). Both
// may as well be for a trainer of the user's own, so they are held against
// base/plain/training_table.h only where a study names a model, without which
// ours trains nothing, and names that have no row pass.
#ifndef FROSTLINE_SERVER_WIRE_UNTYPED_SETTINGS_H_
#define FROSTLINE_SERVER_WIRE_UNTYPED_SETTINGS_H_

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// Answers REQUEST_INVALID naming the field.
absl::Status CheckUntypedSettings(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_UNTYPED_SETTINGS_H_

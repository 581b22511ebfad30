// SPDX-License-Identifier: Apache-2.0
//
// File: observation.h
//
// A row becomes an Observation here alone. What was measured on the way is not
// in the row (search/observed_steps.h).
#ifndef FROSTLINE_SERVER_WIRE_OBSERVATION_H_
#define FROSTLINE_SERVER_WIRE_OBSERVATION_H_

#include "frostline/v1/trial.pb.h"
#include "storage/rows.h"
#include "study/history.h"

namespace frostline::server {

Observation ObservationOf(const storage::TrialRow& row);

TrialUse UseOf(const v1::Usage& usage);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_OBSERVATION_H_

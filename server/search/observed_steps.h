// SPDX-License-Identifier: Apache-2.0
//
// File: observed_steps.h
#ifndef FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_
#define FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_

#include <vector>

#include "server/wire/spec_check.h"
#include "study/history.h"

namespace frostline::server {

// Takes those of the first objective.
std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_OBSERVED_STEPS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: objective_range.h
#ifndef FROSTLINE_CLI_VIEW_OBJECTIVE_RANGE_H_
#define FROSTLINE_CLI_VIEW_OBJECTIVE_RANGE_H_

#include <string>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "study/objective.h"

namespace frostline::cli {

// The stated range of an objective, else the one its name lets expect.
MetricRange ClaimedRange(const v1::Objective& objective);

// Says of the first objective that is out of its range "accuracy 1.91 is not in
// 0 … 1, …"; "" where none is. It may be a slip, or the range is another.
std::string OutOfRangeText(const v1::StudySpec& spec,
                           const v1::ImportedTrial& trial);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_OBJECTIVE_RANGE_H_

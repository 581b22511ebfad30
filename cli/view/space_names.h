// SPDX-License-Identifier: Apache-2.0
//
// File: space_names.h
//
// What a study searches, by the names that its trials use: also where no trial
// is there that says them.
#ifndef FROSTLINE_CLI_VIEW_SPACE_NAMES_H_
#define FROSTLINE_CLI_VIEW_SPACE_NAMES_H_

#include <string>
#include <vector>

#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// In the space's order: "prefix_depth" before those of modules, then ties and
// the other parameters, whether or not a condition makes them inactive.
std::vector<std::string> ParameterNames(const v1::StudySpec& spec);

// Of every module that has a rate, in depth order; the parts of a layer that
// the space cuts come behind it. A study without a model has none.
std::vector<std::string> ModuleNames(const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_SPACE_NAMES_H_

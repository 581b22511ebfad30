// SPDX-License-Identifier: Apache-2.0
//
// File: model_view.h
#ifndef FROSTLINE_CLI_VIEW_MODEL_VIEW_H_
#define FROSTLINE_CLI_VIEW_MODEL_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Says whether trials leave models: `training.extra.export`.
bool ExportsModels(const v1::StudySpec& spec);

// Each takes a trial whose usage has a model. Where `folder` is to be is in the
// user's words; names of hosts and folders reach the terminal clean.
std::string RenderModelCopy(const v1::Trial& trial, const std::string& folder,
                            std::size_t files, std::int64_t bytes);
std::string RenderModelElsewhere(const v1::Trial& trial,
                                 const std::string& folder, int width);

// {"trial", "host", "folder", "bytes", "sums_sha256", "copied", "to", "files"};
// nothing was copied where `to` is empty.
std::string ModelJson(const v1::Trial& trial, const std::string& to,
                      const std::vector<std::string>& files);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_MODEL_VIEW_H_

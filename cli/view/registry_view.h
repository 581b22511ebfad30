// SPDX-License-Identifier: Apache-2.0
//
// File: registry_view.h
#ifndef FROSTLINE_CLI_VIEW_REGISTRY_VIEW_H_
#define FROSTLINE_CLI_VIEW_REGISTRY_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"
#include "worker/registry/add.h"
#include "worker/registry/fit.h"

namespace frostline::cli {

// Returns "minilm: bert, 6 layers, 12 heads, texts to 512 tokens".
std::string DescribeModel(const registry::ModelFacts& facts);

// Returns a line for the data set, one for each split and one for the classes.
std::string DescribeData(const registry::DataFacts& facts);

// Returns a line for each thing about the classes that a person should know
// before a search, or "".
std::string DataWarnings(const registry::DataFacts& facts);

// Returns "text: review (guessed), label: stars", and that there is no header.
std::string DescribeColumns(const registry::AddedDataSet& added);

// Returns the table with the most important columns first, because a narrow
// terminal cuts the last ones.
Table RegistryTable(const registry::Registry& registry);

// Returns a row for each model and data set that a worker has, with the workers
// that have it. If its hash differs between workers, each hash has a row.
Table FleetStockTable(const std::vector<v1::Worker>& workers);
// Returns a line about the workers that have not reported what they have, or
// "".
std::string SilentWorkers(const std::vector<v1::Worker>& workers);
// Returns both texts, or "" when both are empty.
std::string RenderFleetStock(const std::vector<v1::Worker>& workers, int width);

// Returns a row for each worker, with what it has.
Table StockTable(const std::vector<v1::Worker>& workers);

// Returns what a registry has as a message, including hashes.
v1::Stock StockOf(const registry::Registry& registry);

// Returns whether trials leave models: `training.extra.export`.
bool ExportsModels(const v1::StudySpec& spec);

// These take a trial whose usage has a model. `folder` is the target as the
// user wrote it. Control characters in names of hosts and folders never reach
// the terminal.
std::string RenderModelCopy(const v1::Trial& trial, const std::string& folder,
                            std::size_t files, std::int64_t bytes);
std::string RenderModelElsewhere(const v1::Trial& trial,
                                 const std::string& folder, int width);

// Returns {"trial", "host", "folder", "bytes", "sums_sha256", "copied", "to",
// "files"}. An empty `to` means that nothing was copied.
std::string ModelJson(const v1::Trial& trial, const std::string& to,
                      const std::vector<std::string>& files);

// Says how much of a new study's frozen prefixes trials can share, and how much
// disk space that takes on a node. No value in `needs` means that the space is
// unknown here. Returns "" for a model without layers.
std::string RenderPrefixes(const v1::CreateStudyReply& reply,
                           const std::optional<registry::BoundaryNeeds>& needs,
                           int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_REGISTRY_VIEW_H_

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

// "minilm: bert, 6 layers, 12 heads, texts to 512 tokens".
std::string DescribeModel(const registry::ModelFacts& facts);

// One line, and one more for each split and for the classes.
std::string DescribeData(const registry::DataFacts& facts);

// "text: review (guessed), label: stars".
std::string DescribeColumns(const registry::AddedDataSet& added);

// The most important columns first, as a narrow terminal cuts the last ones.
Table RegistryTable(const registry::Registry& registry);

// A line for each model and data set of any worker, with the workers that have
// it; one whose sum differs between workers has a line for each sum.
Table FleetStockTable(const std::vector<v1::Worker>& workers);
// Says below it which workers have not told what they have; "" for none.
std::string SilentWorkers(const std::vector<v1::Worker>& workers);
// Both; "" where there is neither.
std::string RenderFleetStock(const std::vector<v1::Worker>& workers, int width);

// A line for each worker, with what it has.
Table StockTable(const std::vector<v1::Worker>& workers);

// As the contract has it, sums included.
v1::Stock StockOf(const registry::Registry& registry);

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

// Says how much of a new study's frozen prefixes can be shared, and what that
// takes of a node's disk; nothing of `needs` says that it cannot be known here.
// Empty of a model without layers.
std::string RenderPrefixes(const v1::CreateStudyReply& reply,
                           const std::optional<registry::BoundaryNeeds>& needs,
                           int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_REGISTRY_VIEW_H_

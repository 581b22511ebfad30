// SPDX-License-Identifier: Apache-2.0
//
// File: registry_view.h
#ifndef FROSTLINE_CLI_VIEW_REGISTRY_VIEW_H_
#define FROSTLINE_CLI_VIEW_REGISTRY_VIEW_H_

#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/worker.pb.h"
#include "worker/registry/add.h"

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_REGISTRY_VIEW_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: stock_entries.h
//
// Says of each entry of a registry's file what tells whether a trainer could
// open it: its id, its sum, its paths.
#ifndef FROSTLINE_WORKER_REGISTRY_STOCK_ENTRIES_H_
#define FROSTLINE_WORKER_REGISTRY_STOCK_ENTRIES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline::registry {

// A regular file below the registry's folder.
struct StockFile {
  std::string path;
  std::string sha256;  // empty where the registry has none
};

struct StockEntry {
  std::string id;
  std::string sha256;  // of a data set that of its split `train`, if any
  // Of a data set that of `train`: a trial opens no split that it does not use.
  std::vector<StockFile> files;
};

// They are sorted by id. A fault's cause has the file and the line.
Expected<std::vector<StockEntry>> StockOfModels(std::string_view yaml);
Expected<std::vector<StockEntry>> StockOfDataSets(std::string_view yaml);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_STOCK_ENTRIES_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// Reads a node's models.yaml and datasets.yaml (docs/reference/datasets.md) for
// programs without LibTorch. The trainer's own parser reads them, so that what
// is right here is right there.
#ifndef FROSTLINE_WORKER_REGISTRY_REGISTRY_H_
#define FROSTLINE_WORKER_REGISTRY_REGISTRY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/plain/result.h"
#include "worker/trainer/data/registry.h"

namespace frostline::registry {

inline constexpr char kModelsFile[] = "models.yaml";
inline constexpr char kDataSetsFile[] = "datasets.yaml";

struct Registry {
  std::string folder;
  trainer::ModelEntries models;
  trainer::DatasetEntries data_sets;
};

// A file that is not there has no entries. One that is malformed is an error
// that names the file and the line.
absl::StatusOr<Registry> ReadRegistry(const std::string& folder);

// The errors of docs/reference/errors.md that a trainer would report.
absl::Status ErrorOf(const Fault& fault, const std::string& field = "");

// Writes entries as docs/reference/datasets.md has them.

// All splits have one format and the same columns.
std::string EntryText(const trainer::DatasetEntry& set);
std::string EntryText(const trainer::ModelEntry& model);

// Writes `entry` behind what the file has, and all of it anew or not at all.
// What would not be read again as it was meant is refused.
absl::Status AppendEntry(const std::string& folder, const char* file,
                         const std::string& entry);

// Says of each entry of a registry's file what tells whether a trainer could
// open it: its id, its sum, its paths.

// A regular file below the registry's folder, with its sum.
struct StockFile {
  std::string path;
  std::string sha256;  // empty where the registry has none
};

struct StockEntry {
  std::string id;
  std::string sha256;  // of a data set that of its split `train`, if any
  // The files of a data set are those of `train`: a trial opens no split that
  // it does not use.
  std::vector<StockFile> files;
};

// They are sorted by id. A fault's cause has the file and the line.
Expected<std::vector<StockEntry>> StockOfModels(std::string_view yaml);
Expected<std::vector<StockEntry>> StockOfDataSets(std::string_view yaml);

// Checks whether files of a registry have the sums that it says. It reads each
// file once, and again when the file has changed. One thread uses it.
class KnownSums {
 public:
  enum class Answer {
    kRight,
    kWrong,
    kLater,    // enough was read for one look
    kUnknown,  // the disk does not let it be read
  };

  explicit KnownSums(std::string folder) : folder_(std::move(folder)) {}

  // Lets `bytes` more be read; one file is read whatever its size.
  void AllowToRead(std::uint64_t bytes);
  // A file without a sum is right.
  Answer Judge(const StockFile& file);

  // Counts the files that were read.
  int computed() const { return computed_; }

 private:
  struct Sum {
    std::string stamp;  // of the file when it was read
    std::string sha256;
  };

  std::string folder_;
  std::map<std::string, Sum> sums_;  // by path
  std::uint64_t left_ = 0;
  bool has_read_ = false;  // since AllowToRead()
  int computed_ = 0;
};

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_REGISTRY_H_

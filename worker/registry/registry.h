// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// Reads a node's models.yaml and datasets.yaml (docs/reference/datasets.md) for
// programs without LibTorch. It uses the trainer's own parser, so that both
// accept the same files.
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

// The models and data sets that a node's registry names.
struct Registry {
  std::string folder;
  trainer::ModelEntries models;
  trainer::DatasetEntries data_sets;
};

// Reads both files. A file that is not there has no entries. The error for a
// malformed one names the file and the line.
absl::StatusOr<Registry> ReadRegistry(const std::string& folder);

// Returns the error of docs/reference/errors.md that a trainer would report.
absl::Status ErrorOf(const Fault& fault, const std::string& field = "");

// Return an entry as it is written in the file. All splits of a set have to
// have one format and the same columns.
std::string EntryText(const trainer::DatasetEntry& set);
std::string EntryText(const trainer::ModelEntry& model);

// What is to change in a file of entries.
struct EntryChange {
  std::vector<std::string> taken_out;  // ids
  std::string added;                   // entries, at the end

  bool empty() const { return taken_out.empty() && added.empty(); }
};

// Changes the file, which is written as a whole or not at all; all other lines
// stay as they are. The error says why the file could not be read again, or
// that an entry's lines cannot be told from others.
absl::Status ChangeEntries(const std::string& folder, const char* file,
                           const EntryChange& change);

// A regular file below the registry's folder, with its sum.
struct StockFile {
  std::string path;
  std::string sha256;  // empty if the registry has none
};

// What decides whether a trainer could open an entry of the registry.
struct StockEntry {
  std::string id;
  std::string sha256;  // for a data set that of its split `train`, if any
  std::string folder;  // of a model, below the registry's
  // For a data set only the file of `train`: a trial opens no split that it
  // does not use.
  std::vector<StockFile> files;
};

// Return the entries of a file, sorted by id. A fault's cause has the file and
// the line.
Expected<std::vector<StockEntry>> StockOfModels(std::string_view yaml);
Expected<std::vector<StockEntry>> StockOfDataSets(std::string_view yaml);

// The sums of a registry's files, to check those that the registry says. It
// reads each file once, and again when the file has changed. One thread uses
// it.
class KnownSums {
 public:
  // Whether a file has its sum.
  enum class Answer {
    kRight,
    kWrong,
    kLater,    // not known yet: enough was read for one look
    kUnknown,  // the disk does not say
  };

  explicit KnownSums(std::string folder) : folder_(std::move(folder)) {}

  // Allows `bytes` more to be read; one file is read whatever its size.
  void AllowToRead(std::uint64_t bytes);
  // Says whether the file has its sum; a file without a sum is right.
  Answer Judge(const StockFile& file);

  // Returns how many files were read.
  int computed() const { return computed_; }

 private:
  // A sum, and the stamp that the file had when it was read.
  struct Sum {
    std::string stamp;
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

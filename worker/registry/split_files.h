// SPDX-License-Identifier: Apache-2.0
//
// File: split_files.h
//
// Finds the files of a data set's splits: a file is `train`; a folder as
// Hugging Face keeps one has train, validation and test in their names.
#ifndef FROSTLINE_WORKER_REGISTRY_SPLIT_FILES_H_
#define FROSTLINE_WORKER_REGISTRY_SPLIT_FILES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace frostline::registry {

// From a split's name to its file. `path` may be a file or a folder. A split in
// several files, a folder of Arrow or Parquet files and one without `train` are
// errors whose fix is a command.
absl::StatusOr<std::map<std::string, std::string>> FindSplitFiles(
    const std::string& path);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_SPLIT_FILES_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: verified_files.h
//
// Opens files of a registry and makes sure that they are what the registry
// says. A sum is computed once for a file and kept as long as its device,
// inode, size and times stay the same.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_VERIFIED_FILES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_VERIFIED_FILES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/plain/result.h"
#include "worker/trainer/data/input_file.h"

namespace frostline::trainer {

// For one thread.
class VerifiedFiles {
 public:
  explicit VerifiedFiles(DataRoot root) : root_(std::move(root)) {}

  // At its beginning. kInconsistent when its sum is another one.
  Expected<InputFile> Open(const std::string& relative,
                           const std::string& sha256);
  // Where there is no sum to compare with: a model's config.json.
  Expected<InputFile> OpenUnverified(const std::string& relative) const {
    return root_.OpenFile(relative);
  }

  // The operator's folder, as it was given.
  const std::string& root() const { return root_.path(); }
  std::size_t sums_computed() const { return sums_computed_; }

 private:
  using Identity = std::array<std::uint64_t, 7>;

  DataRoot root_;
  std::map<Identity, std::string> sums_;
  std::size_t sums_computed_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_VERIFIED_FILES_H_

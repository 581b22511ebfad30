// SPDX-License-Identifier: Apache-2.0
//
// File: verified_files.h
//
// Opens files of a registry that are what it says. A sum is kept as long as the
// file's device, inode, size and times stay the same. One thread uses it.
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

class VerifiedFiles {
 public:
  explicit VerifiedFiles(DataRoot root) : root_(std::move(root)) {}

  // Returns kInconsistent when its sum is another, kStopped when `stop` came
  // before it was computed.
  Expected<InputFile> Open(const std::string& relative,
                           const std::string& sha256,
                           const StopSign& stop = {});
  // Opens what has no sum, as a model's config.json.
  Expected<InputFile> OpenUnverified(const std::string& relative) const {
    return root_.OpenFile(relative);
  }

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

// SPDX-License-Identifier: Apache-2.0
//
// File: work_folder.h
#ifndef FROSTLINE_CLI_PROCESS_WORK_FOLDER_H_
#define FROSTLINE_CLI_PROCESS_WORK_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace frostline::cli {

// A folder of one command's files.
class WorkFolder {
 public:
  // Makes `named` if missing, and leaves it there. If empty, it makes a
  // temporary one, removed with the object unless kept. Failing is
  // STORE_UNWRITABLE.
  static absl::StatusOr<WorkFolder> Make(const std::string& named, bool keep);

  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::exchange(other.path_, "")), stays_(other.stays_) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::string& path() const { return path_; }
  bool stays() const { return stays_; }
  void Keep() { stays_ = true; }

 private:
  WorkFolder(const std::string& path, bool stays)
      : path_(path), stays_(stays) {}

  std::string path_;  // empty when moved from
  bool stays_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_WORK_FOLDER_H_

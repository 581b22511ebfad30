// SPDX-License-Identifier: Apache-2.0
//
// File: placing.h
//
// A registry reaches no file outside of its folder; so what is registered from
// elsewhere is put there first. One thread uses it.
#ifndef FROSTLINE_WORKER_REGISTRY_PLACING_H_
#define FROSTLINE_WORKER_REGISTRY_PLACING_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::registry {

// What it has placed goes again with it, unless Keep() was called.
class Placing {
 public:
  // Makes the folder where there is none, and keeps others from adding to it
  // meanwhile, where its file system has locks.
  static absl::StatusOr<Placing> Into(const std::string& folder);
  ~Placing();
  Placing(Placing&& other) noexcept;
  Placing& operator=(Placing&&) = delete;
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

  const std::string& folder() const { return folder_; }

  // Answers the path below the folder, or "" of what lies elsewhere.
  std::string Below(const std::string& path) const;

  // Copies: rows that somebody goes on to edit stay as they were registered.
  absl::Status Copy(const std::string& from, const std::string& to);
  // A hard link costs nothing, and nobody edits weights. On another file
  // system it copies.
  absl::Status Link(const std::string& from, const std::string& to);

  void Keep() { made_.clear(); }

 private:
  Placing(std::string folder, int lock)
      : folder_(std::move(folder)), lock_(lock) {}

  absl::StatusOr<std::filesystem::path> Prepare(const std::string& to);

  std::string folder_;
  int lock_;  // the folder, opened; -1 once it was moved from
  std::vector<std::filesystem::path> made_;  // the outermost first
};

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_PLACING_H_

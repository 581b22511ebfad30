// SPDX-License-Identifier: Apache-2.0
//
// File: locked_file.h
//
// A lock between processes of one node, as flock(2) has it: it ends with its
// owner, however that ends.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_LOCKED_FILE_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_LOCKED_FILE_H_

#include <optional>
#include <string>
#include <utility>

namespace frostline::trainer {

class LockedFile {
 public:
  enum class Kind { kShared, kAlone };

  // Makes the file where it lacks. Returns nothing when others hold it, or it
  // cannot be opened.
  static std::optional<LockedFile> Try(const std::string& path, Kind kind);
  // Waits. Returns nothing when it cannot be opened.
  static std::optional<LockedFile> Await(const std::string& path, Kind kind);
  ~LockedFile();
  LockedFile(LockedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LockedFile& operator=(LockedFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  // Whether `path` still names the file that is held.
  bool IsAt(const std::string& path) const;
  int fd() const { return fd_; }

 private:
  explicit LockedFile(int fd) : fd_(fd) {}
  static std::optional<LockedFile> Open(const std::string& path, int how);

  int fd_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_LOCKED_FILE_H_

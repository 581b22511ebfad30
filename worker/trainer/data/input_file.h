// SPDX-License-Identifier: Apache-2.0
//
// File: input_file.h
//
// The worker's operator gave its path, or a folder above it. Its sum is taken
// of what was opened.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_INPUT_FILE_H_
#define FROSTLINE_WORKER_TRAINER_DATA_INPUT_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/plain/result.h"

namespace frostline::trainer {

// It owns `fd`; `name` is for faults.
class InputFile {
 public:
  InputFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Takes only a regular file: a pipe or a device could hang us.
  static Expected<InputFile> Open(const std::string& path);

  int fd() const { return fd_; }
  const std::string& name() const { return name_; }

  // Reads up to `size` bytes after the last ones, 0 at the end.
  Expected<std::size_t> Read(char* into, std::size_t size);
  Expected<Done> Rewind();
  // Reads all, or returns kTooLarge above `limit` bytes.
  Expected<std::string> ReadAll(std::size_t limit);
  // Returns 64 lower-case hexadecimal digits, and rewinds. It asks `stop` for
  // each mebibyte.
  Expected<std::string> Sha256(const StopSign& stop = {});

 private:
  int fd_;
  std::string name_;
};

// A path that leaves this folder by "..", by being absolute or by a symbolic
// link is refused.
class DataRoot {
 public:
  static Expected<DataRoot> Open(const std::string& path);
  ~DataRoot();
  DataRoot(DataRoot&& other) noexcept;
  DataRoot& operator=(DataRoot&& other) noexcept;
  DataRoot(const DataRoot&) = delete;
  DataRoot& operator=(const DataRoot&) = delete;

  const std::string& path() const { return path_; }

  // Returns kInconsistent when the path leaves the root, kUnreadable when it
  // is absent.
  Expected<InputFile> OpenFile(const std::string& relative) const;
  // Follows no symbolic link, for kernels without openat2 (before Linux 5.6).
  Expected<InputFile> OpenFileStepwise(const std::string& relative) const;

 private:
  DataRoot(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_INPUT_FILE_H_

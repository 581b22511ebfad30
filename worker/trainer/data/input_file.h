// SPDX-License-Identifier: Apache-2.0
//
// File: input_file.h
//
// The worker's operator gave its path, or a folder above it. Its sum is taken
// of what was opened.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_INPUT_FILE_H_
#define FROSTLINE_WORKER_TRAINER_DATA_INPUT_FILE_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

// A file that is open for reading. It owns `fd`; `name` is for faults.
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

// A folder that no file outside of can be opened through: a path that is
// absolute, or leaves the folder by ".." or a symbolic link, is refused.
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

// Opens files of a registry that are what it says. A sum is kept as long as the
// file's device, inode, size and times stay the same. One thread uses it.
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

// Reads lines of a file that strangers wrote, ended by LF, CRLF or the file; a
// byte order mark is passed over. A line of more than a mebibyte, a NUL and
// what is not UTF-8 are faults that name file and line.
//
// A file of any size takes little more than a mebibyte of memory.
class LineReader {
 public:
  explicit LineReader(InputFile file);

  // It is false at the end. The line is valid until the next call.
  Expected<bool> Next(std::string_view& line);

  std::size_t number() const { return number_; }  // of the last line, from 1
  const std::string& name() const { return file_.name(); }

  // Says "train.tsv line 12: …", with the fix.
  Fault At(std::size_t number, FaultKind kind, const std::string& what,
           const std::string& fix) const;
  Fault Here(FaultKind kind, const std::string& what,
             const std::string& fix) const {
    return At(number_, kind, what, fix);
  }

 private:
  Expected<bool> Fill();
  Expected<bool> Take(std::size_t size, std::size_t end,
                      std::string_view& line);

  InputFile file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what has not been given out
  std::size_t end_ = 0;    // of what has been read
  std::size_t number_ = 0;
  bool at_end_ = false;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_INPUT_FILE_H_

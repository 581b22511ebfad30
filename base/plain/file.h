// SPDX-License-Identifier: Apache-2.0
//
// File: file.h
//
// Files are read into memory of our own, since a mapped file that shrinks would
// kill the process.
#ifndef FROSTLINE_BASE_PLAIN_FILE_H_
#define FROSTLINE_BASE_PLAIN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/plain/result.h"

namespace frostline {

// Any thread may call ReadAt().
class SourceFile {
 public:
  // Refuses a pipe or a device, so that none can hang us.
  static Expected<SourceFile> Open(const std::string& path);
  ~SourceFile();
  SourceFile(SourceFile&& other) noexcept;
  SourceFile& operator=(SourceFile&& other) noexcept;
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  const std::string& path() const { return path_; }
  // The size is that at Open().
  std::uint64_t size() const { return size_; }
  // Reads exactly `count` bytes, or answers kUnreadable: the file may have
  // shrunk.
  Expected<Done> ReadAt(std::uint64_t at, void* into, std::size_t count) const;

 private:
  SourceFile(int fd, std::string path, std::uint64_t size)
      : fd_(fd), path_(std::move(path)), size_(size) {}

  int fd_;
  std::string path_;
  std::uint64_t size_;
};

// Answers kTooLarge above `limit`.
Expected<std::string> ReadWholeFile(const std::string& path, std::size_t limit);

// The file appears under its name with Commit(), complete and on disk, or
// never: one beside it is written, synced and renamed, and the folder synced.
// The destructor removes what was not committed.
class AtomicFile {
 public:
  static Expected<AtomicFile> Create(const std::string& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  Expected<Done> Append(const void* bytes, std::size_t count);
  // It is the last call.
  Expected<Done> Commit();

 private:
  AtomicFile(int fd, std::string path, std::string beside)
      : fd_(fd), path_(std::move(path)), beside_(std::move(beside)) {}

  int fd_;
  std::string path_;
  std::string beside_;  // empty once it has its name
};

Expected<Done> WriteFileAtomically(const std::string& path,
                                   std::string_view bytes);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_FILE_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: file.h
//
// Reads and writes files. They are read into our own memory, since a mapped
// file that shrinks would kill the process.
#ifndef FROSTLINE_BASE_PLAIN_FILE_H_
#define FROSTLINE_BASE_PLAIN_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/plain/result.h"

namespace frostline {

inline constexpr mode_t kPublicFile = 0644;
inline constexpr mode_t kPrivateFile = 0600;

// A file open for reading. Any thread may call ReadAt().
class SourceFile {
 public:
  // Opens the file. Pipes and devices are refused, so that none can hang us.
  static Expected<SourceFile> Open(const std::string& path);
  ~SourceFile();
  SourceFile(SourceFile&& other) noexcept;
  SourceFile& operator=(SourceFile&& other) noexcept;
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  const std::string& path() const { return path_; }
  // Returns the size that the file had at Open().
  std::uint64_t size() const { return size_; }
  // Reads exactly `count` bytes. The fault is kUnreadable when the file has
  // become too short.
  Expected<Done> ReadAt(std::uint64_t at, void* into, std::size_t count) const;

 private:
  SourceFile(int fd, std::string path, std::uint64_t size)
      : fd_(fd), path_(std::move(path)), size_(size) {}

  int fd_;
  std::string path_;
  std::uint64_t size_;
};

// The fault is kTooLarge above `limit`.
Expected<std::string> ReadWholeFile(const std::string& path, std::size_t limit);

// Returns the folder that a path's last name is in: "." for "a", "/" for "/a".
std::string FolderOf(const std::string& path);

// A file that appears under its name at Commit(), complete and on disk, or
// never. Until then it has no name, so that a killed process leaves nothing. A
// file system such as NFS knows no files without names: there it has another
// name in the same folder, and the destructor removes it without Commit().
class AtomicFile {
 public:
  // The file gets this mode whatever the process's umask is.
  static Expected<AtomicFile> Create(const std::string& path,
                                     mode_t mode = kPublicFile);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  Expected<Done> Append(const void* bytes, std::size_t count);
  // Syncs the file, gives it its name in place of what has it, and syncs the
  // folder. This is the last call.
  Expected<Done> Commit();

 private:
  AtomicFile(int fd, std::string path, std::string beside)
      : fd_(fd), path_(std::move(path)), beside_(std::move(beside)) {}

  int fd_;
  std::string path_;
  std::string beside_;  // its other name until Commit(), or empty
};

Expected<Done> WriteFileAtomically(const std::string& path,
                                   std::string_view bytes,
                                   mode_t mode = kPublicFile);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_FILE_H_

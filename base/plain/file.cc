// SPDX-License-Identifier: Apache-2.0
#include "base/plain/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "base/plain/descriptor.h"

namespace frostline {
namespace {

Fault Failed(const std::string& what, const std::string& path,
             const std::string& fix) {
  return {FaultKind::kUnreadable,
          "cannot " + what + " " + path + ": " +
              std::generic_category().message(errno),
          fix, errno};
}

constexpr char kFixReading[] = "see that the file is there and readable";
constexpr char kFixWriting[] = "see that the folder is there and has room";

}  // namespace

Expected<SourceFile> SourceFile::Open(const std::string& path) {
  // Opens without blocking: a pipe without a writer must not hold us.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Failed("open", path, kFixReading);
  SourceFile file(fd, path, 0);
  struct stat status = {};
  if (fstat(fd, &status) != 0) return Failed("examine", path, kFixReading);
  if (!S_ISREG(status.st_mode)) {
    return Fault{FaultKind::kUnreadable, path + " is not a regular file",
                 "name a file"};
  }
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

SourceFile::~SourceFile() {
  if (fd_ >= 0) close(fd_);
}

SourceFile::SourceFile(SourceFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_) {}

SourceFile& SourceFile::operator=(SourceFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  return *this;
}

Expected<Done> SourceFile::ReadAt(std::uint64_t at, void* into,
                                  std::size_t count) const {
  auto* to = static_cast<char*>(into);
  while (count > 0) {
    const ssize_t got = pread(fd_, to, count, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read", path_, kFixReading);
    if (got == 0) {
      return Fault{
          FaultKind::kUnreadable, path_ + " ends too early",
          "copy the file again; it may have changed while it was read"};
    }
    to += got;
    at += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return Done{};
}

Expected<std::string> ReadWholeFile(const std::string& path,
                                    std::size_t limit) {
  ASSIGN_OR_FAULT(SourceFile file, SourceFile::Open(path));
  if (file.size() > limit) {
    return Fault{FaultKind::kTooLarge,
                 path + " has " + std::to_string(file.size()) +
                     " bytes; the limit is " + std::to_string(limit),
                 "name the right file"};
  }
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  RETURN_IF_FAULT(file.ReadAt(0, bytes.data(), bytes.size()));
  return bytes;
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Expected<AtomicFile> AtomicFile::Create(const std::string& path, mode_t mode) {
  std::string beside;
  int fd = open(FolderOf(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) {
    beside = path + ".XXXXXX";
    fd = mkostemp(beside.data(), O_CLOEXEC);
  }
  if (fd < 0) return Failed("create", path, kFixWriting);
  fchmod(fd, mode);
  return AtomicFile(fd, path, std::move(beside));
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, std::string())) {}

Expected<Done> AtomicFile::Append(const void* bytes, std::size_t count) {
  if (WriteAll(fd_, {static_cast<const char*>(bytes), count})) return Done{};
  return Failed("write", path_, kFixWriting);
}

Expected<Done> AtomicFile::Commit() {
  if (fsync(fd_) != 0) return Failed("sync", path_, kFixWriting);
  // Only rename() takes the place of a file that is there, and it wants a name.
  const std::string unnamed = "/proc/self/fd/" + std::to_string(fd_);
  while (beside_.empty()) {
    const std::string name =
        path_ + "." + std::to_string(std::random_device()());
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(),
               AT_SYMLINK_FOLLOW) == 0) {
      beside_ = name;
    } else if (errno != EEXIST) {
      return Failed("name", path_, kFixWriting);
    }
  }
  if (rename(beside_.c_str(), path_.c_str()) != 0) {
    return Failed("rename to", path_, kFixWriting);
  }
  beside_.clear();
  const std::string folder = FolderOf(path_);
  if (SyncNames(folder)) return Done{};
  return Failed("sync the folder", folder, kFixWriting);
}

Expected<Done> WriteFileAtomically(const std::string& path,
                                   std::string_view bytes, mode_t mode) {
  ASSIGN_OR_FAULT(AtomicFile file, AtomicFile::Create(path, mode));
  RETURN_IF_FAULT(file.Append(bytes.data(), bytes.size()));
  return file.Commit();
}

}  // namespace frostline

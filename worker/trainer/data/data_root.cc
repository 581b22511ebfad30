// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "worker/trainer/data/input_file.h"

#if __has_include(<linux/openat2.h>) && defined(SYS_openat2)
#include <linux/openat2.h>
#define FROSTLINE_HAS_OPENAT2 1
#else  // headers of a Linux before 5.6
#define FROSTLINE_HAS_OPENAT2 0
#endif

namespace frostline::trainer {
namespace {

// O_NONBLOCK: opening a pipe that nobody writes must not hang.
constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

Fault Leaves(const std::string& name) {
  return Fault{FaultKind::kInconsistent,
               name + ": leads out of the root folder",
               "put the file below the root that the worker was started with"};
}

Fault Absent(const std::string& name, int error) {
  return Fault{FaultKind::kUnreadable, name + ": " + std::strerror(error),
               "correct the registry's path, or put the file there"};
}

Expected<InputFile> Checked(int fd, const std::string& name) {
  InputFile file(fd, name);
  struct stat info;
  if (fstat(fd, &info) != 0) return Absent(name, errno);
  if (!S_ISREG(info.st_mode)) {
    return Fault{FaultKind::kUnreadable, name + ": is not a regular file",
                 "name a file, not a folder, pipe or device"};
  }
  return file;
}

bool LooksBeneath(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  if (path.find('\0') != std::string_view::npos) return false;
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    if (path.substr(0, end) == "..") return false;
    if (end == std::string_view::npos) return true;
    path.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

Expected<DataRoot> DataRoot::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Absent(path, errno);
  return DataRoot(fd, path);
}

DataRoot::~DataRoot() {
  if (fd_ >= 0) close(fd_);
}

DataRoot::DataRoot(DataRoot&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

DataRoot& DataRoot::operator=(DataRoot&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

Expected<InputFile> DataRoot::OpenFile(const std::string& relative) const {
  if (!LooksBeneath(relative)) return Leaves(relative);
#if FROSTLINE_HAS_OPENAT2
  open_how how = {};
  how.flags = kFileFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd =
      syscall(SYS_openat2, fd_, relative.c_str(), &how, sizeof(how));
  if (fd >= 0) return Checked(static_cast<int>(fd), relative);
  if (errno == EXDEV || errno == ELOOP) return Leaves(relative);
  // An old kernel, or a sandbox that does not know the call.
  if (errno != ENOSYS && errno != EPERM) return Absent(relative, errno);
#endif
  return OpenFileStepwise(relative);
}

Expected<InputFile> DataRoot::OpenFileStepwise(
    const std::string& relative) const {
  if (!LooksBeneath(relative)) return Leaves(relative);
  int folder = fd_;
  std::string_view rest = relative;
  while (true) {
    const std::size_t end = rest.find('/');
    const bool last = end == std::string_view::npos;
    const std::string step(rest.substr(0, end));
    const int flags = last ? kFileFlags | O_NOFOLLOW
                           : O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    const int next = openat(folder, step.empty() ? "." : step.c_str(), flags);
    const int error = errno;
    if (folder != fd_) close(folder);
    if (next < 0) {
      // With O_DIRECTORY a link is "not a directory", without it a loop.
      const bool link = error == ELOOP || error == ENOTDIR;
      return link ? Leaves(relative) : Absent(relative, error);
    }
    if (last) return Checked(next, relative);
    folder = next;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace frostline::trainer

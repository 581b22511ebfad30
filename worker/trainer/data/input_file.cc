// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/plain/sums.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

Fault Unreadable(const std::string& name, int error) {
  return Fault{FaultKind::kUnreadable, name + ": " + std::strerror(error),
               "check the path and its permissions on this worker"};
}

}  // namespace

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(name_, other.name_);
  return *this;
}

Expected<InputFile> InputFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Unreadable(path, errno);
  InputFile file(fd, path);
  struct stat info;
  if (fstat(fd, &info) != 0) return Unreadable(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Fault{FaultKind::kUnreadable, path + ": is not a regular file",
                 "name a file, not a folder, pipe or device"};
  }
  return file;
}

Expected<std::size_t> InputFile::Read(char* into, std::size_t size) {
  while (true) {
    const ssize_t got = read(fd_, into, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return Unreadable(name_, errno);
  }
}

Expected<Done> InputFile::Rewind() {
  if (lseek(fd_, 0, SEEK_SET) != 0) return Unreadable(name_, errno);
  return Done{};
}

Expected<std::string> InputFile::ReadAll(std::size_t limit) {
  if (Expected<Done> done = Rewind(); !done.ok()) return done.fault();
  std::string bytes;
  std::vector<char> chunk(std::size_t{64} << 10);
  while (true) {
    Expected<std::size_t> got = Read(chunk.data(), chunk.size());
    if (!got.ok()) return got.fault();
    if (got.value() == 0) return bytes;
    bytes.append(chunk.data(), got.value());
    if (bytes.size() > limit) {
      return Fault{
          FaultKind::kTooLarge,
          name_ + ": has more than " + std::to_string(limit) + " bytes",
          "make the file smaller"};
    }
  }
}

Expected<std::string> InputFile::Sha256(const StopSign& stop) {
  if (Expected<Done> done = Rewind(); !done.ok()) return done.fault();
  Sha256Sum sum;
  std::vector<char> chunk(kChunk);
  while (true) {
    if (Expected<Done> wanted = stop.Check(); !wanted.ok()) {
      return wanted.fault();
    }
    Expected<std::size_t> got = Read(chunk.data(), chunk.size());
    if (!got.ok()) return got.fault();
    if (got.value() == 0) break;
    sum.Add({chunk.data(), got.value()});
  }
  if (Expected<Done> done = Rewind(); !done.ok()) return done.fault();
  return sum.Finish();
}

}  // namespace frostline::trainer

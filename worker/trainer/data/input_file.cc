// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/sums.h"
#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"

#if __has_include(<linux/openat2.h>) && defined(SYS_openat2)
#include <linux/openat2.h>
#define FROSTLINE_HAS_OPENAT2 1
#else  // headers of a Linux before 5.6
#define FROSTLINE_HAS_OPENAT2 0
#endif

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
  RETURN_IF_FAULT(Rewind());
  std::string bytes;
  std::vector<char> chunk(std::size_t{64} << 10);
  while (true) {
    ASSIGN_OR_FAULT(std::size_t got, Read(chunk.data(), chunk.size()));
    if (got == 0) return bytes;
    bytes.append(chunk.data(), got);
    if (bytes.size() > limit) {
      return Fault{
          FaultKind::kTooLarge,
          name_ + ": has more than " + std::to_string(limit) + " bytes",
          "make the file smaller"};
    }
  }
}

Expected<std::string> InputFile::Sha256(const StopSign& stop) {
  RETURN_IF_FAULT(Rewind());
  Sha256Sum sum;
  std::vector<char> chunk(kChunk);
  while (true) {
    RETURN_IF_FAULT(stop.Check());
    ASSIGN_OR_FAULT(std::size_t got, Read(chunk.data(), chunk.size()));
    if (got == 0) break;
    sum.Add({chunk.data(), got});
  }
  RETURN_IF_FAULT(Rewind());
  return sum.Finish();
}

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

namespace {

std::uint64_t Whole(auto number) { return static_cast<std::uint64_t>(number); }

}  // namespace

Expected<InputFile> VerifiedFiles::Open(const std::string& relative,
                                        const std::string& sha256,
                                        const StopSign& stop) {
  Expected<InputFile> file = root_.OpenFile(relative);
  if (!file.ok()) return file;
  struct stat info;
  if (fstat(file.value().fd(), &info) != 0) {
    return Fault{FaultKind::kUnreadable, relative + ": " + std::strerror(errno),
                 "try again"};
  }
  // The change time too: a program can set the other one back.
  const Identity identity = {
      Whole(info.st_dev),          Whole(info.st_ino),
      Whole(info.st_size),         Whole(info.st_mtim.tv_sec),
      Whole(info.st_mtim.tv_nsec), Whole(info.st_ctim.tv_sec),
      Whole(info.st_ctim.tv_nsec)};
  auto known = sums_.find(identity);
  if (known == sums_.end()) {
    ASSIGN_OR_FAULT(std::string sum, file.value().Sha256(stop));
    ++sums_computed_;
    known = sums_.emplace(identity, std::move(sum)).first;
  }
  if (known->second == sha256) return file;
  return Fault{
      FaultKind::kInconsistent,
      relative + ": its SHA-256 is " + known->second + ", not " + sha256,
      "put the right file there, or write its sum into the registry"};
}

namespace {

constexpr std::size_t kFirstBufferBytes = std::size_t{64} << 10;
// Room for the longest line, its CRLF, a mark, and a byte too many.
constexpr std::size_t kMaxBufferBytes = kMaxDataLineBytes + 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns the place of the first byte that is not UTF-8, counted from 1.
std::size_t FirstBadByte(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size()) {
    const CodePoint point = DecodeAt(line, at);
    if (!point.valid) break;
    at += point.bytes;
  }
  return at + 1;
}

}  // namespace

LineReader::LineReader(InputFile file)
    : file_(std::move(file)), buffer_(kFirstBufferBytes) {}

Fault LineReader::At(std::size_t number, FaultKind kind,
                     const std::string& what, const std::string& fix) const {
  return Fault{kind, name() + " line " + std::to_string(number) + ": " + what,
               fix};
}

// False when there is nothing more to read, or no room to read it into.
Expected<bool> LineReader::Fill() {
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
              buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    buffer_.resize(std::min(2 * end_, kMaxBufferBytes));
  }
  if (at_end_ || end_ == buffer_.size()) return false;
  ASSIGN_OR_FAULT(std::size_t got,
                  file_.Read(buffer_.data() + end_, buffer_.size() - end_));
  at_end_ = got == 0;
  end_ += got;
  return !at_end_;
}

Expected<bool> LineReader::Next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* from = buffer_.data() + begin_ + searched;
    const std::size_t size = end_ - begin_ - searched;
    const void* found = size == 0 ? nullptr : std::memchr(from, '\n', size);
    if (found != nullptr) {
      const std::size_t length = static_cast<std::size_t>(
          static_cast<const char*>(found) - (buffer_.data() + begin_));
      return Take(length, length + 1, line);
    }
    searched = end_ - begin_;
    ASSIGN_OR_FAULT(bool more, Fill());
    if (more) continue;
    if (searched == 0) return false;
    return Take(searched, searched, line);
  }
}

// Gives out `size` bytes as a line and passes over `end`.
Expected<bool> LineReader::Take(std::size_t size, std::size_t end,
                                std::string_view& line) {
  line = std::string_view(buffer_.data() + begin_, size);
  begin_ += end;
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > kMaxDataLineBytes) {
    return Here(FaultKind::kTooLarge, "is longer than 1 MiB",
                "shorten the text: a model reads a few hundred words of it");
  }
  if (std::memchr(line.data(), '\0', line.size()) != nullptr) {
    return Here(FaultKind::kSyntax, "has a NUL byte",
                "is this a text file in UTF-8? convert it, e.g. with iconv");
  }
  if (!IsAscii(line) && !IsValidUtf8(line)) {
    return Here(FaultKind::kSyntax,
                "is not UTF-8 at byte " + std::to_string(FirstBadByte(line)),
                "convert the file to UTF-8, e.g. iconv -f latin1 -t utf-8");
  }
  return true;
}

}  // namespace frostline::trainer

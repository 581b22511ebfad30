// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/descriptor.h"
#include "base/plain/sums.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

std::string SpoolFolderOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Create(
    const std::string& path, const v1::LeaseRef& lease) {
  const int fd = open(path.c_str(),
                      O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("create", path);
  std::unique_ptr<SpoolFile> file(new SpoolFile(path, fd));
  RETURN_IF_ERROR(file->Write(kSpoolHead + EncodeLease(lease)));
  RETURN_IF_ERROR(SyncFolder(SpoolFolderOf(path)));
  file->SkipToEnd();
  return file;
}

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Reopen(
    const std::string& path, SpoolContent* content) {
  const int fd = open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fd < 0) return FileError("open", path);
  std::unique_ptr<SpoolFile> file(new SpoolFile(path, fd));
  struct stat info{};
  if (fstat(fd, &info) != 0) return FileError("read", path);
  if (!file->Scan(info.st_size, content)) {
    return MakeError(ErrorId::kStoreCorrupt, path + " is no spool file",
                     "move it away if it is not needed");
  }
  if (file->size_ < info.st_size) {
    Log(LogLevel::kWarning, "spool_tail_cut",
        {{"path", path}, {"bytes", absl::StrCat(info.st_size - file->size_)}});
    if (ftruncate(fd, file->size_) != 0) return FileError("cut", path);
  }
  return file;
}

bool SpoolFile::Scan(std::int64_t bytes, SpoolContent* content) {
  std::string head(kSpoolHead);
  if (!ReadAt(fd_, 0, &head) || head != kSpoolHead) return false;
  size_ = static_cast<std::int64_t>(head.size());
  const auto body = ReadBody(fd_, size_, bytes);
  const auto lease = DecodeLease(body.value_or(""));
  if (!lease.has_value()) return false;
  *content = {*lease, 0, std::nullopt};
  size_ += FrameBytes(*body);
  read_at_ = size_;
  while (!content->ending.has_value()) {
    auto found = FindRecord(fd_, size_, bytes);
    if (!found.has_value()) break;
    if (found->at > size_) LogUnreadable(size_, found->at);
    size_ = found->end;
    if (std::holds_alternative<v1::ReportRequest>(found->record)) {
      ++content->reports;
    } else {
      content->ending = std::move(found->record);
    }
  }
  return true;
}

absl::StatusOr<SpoolRecord> SpoolFile::ReadNext() {
  std::optional<FoundRecord> found = FindRecord(fd_, read_at_, size_);
  if (!found.has_value()) return Unreadable(read_at_, size_);
  if (found->at > read_at_) LogUnreadable(read_at_, found->at);
  read_at_ = found->end;
  return std::move(found->record);
}

absl::Status SpoolFile::Unreadable(std::int64_t from, std::int64_t to) const {
  return MakeError(
      ErrorId::kStoreCorrupt,
      absl::StrCat("bytes ", from, " to ", to, " of ", path_,
                   " cannot be read"),
      "check the disk: what a trial said there is lost, and nothing else");
}

void SpoolFile::LogUnreadable(std::int64_t from, std::int64_t to) const {
  Log(LogLevel::kError, "spool_damaged",
      {{"path", path_}, {"cause", DescribeError(Unreadable(from, to))}});
}

SpoolFile::~SpoolFile() { close(fd_); }

absl::Status SpoolFile::Append(const SpoolRecord& record) {
  return Write(EncodeRecord(record));
}

absl::Status SpoolFile::Write(const std::string& bytes) {
  if (WriteAll(fd_, bytes) && fdatasync(fd_) == 0) {
    size_ += static_cast<std::int64_t>(bytes.size());
    return absl::OkStatus();
  }
  absl::Status status = FileError("write", path_);
  // Half a record would hide all that is appended behind it.
  if (ftruncate(fd_, size_) != 0) {
    Log(LogLevel::kError, "spool_damaged", {{"path", path_}});
  }
  return status;
}

void SpoolFile::Remove() { unlink(path_.c_str()); }

void SpoolFile::MoveTo(const std::string& folder) {
  const std::filesystem::path from = path_;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::filesystem::rename(from, std::filesystem::path(folder) / from.filename(),
                          error);
  if (error) {
    Log(LogLevel::kWarning, "spool_not_moved",
        {{"path", path_}, {"cause", error.message()}});
  }
}

std::string SpoolFileName(const v1::LeaseRef& lease) {
  const auto trial = ParseTrialName(lease.trial());
  if (!trial.ok()) return "unnamed.spool";
  return absl::StrCat(trial->study_id, "~", trial->number, "~", lease.attempt(),
                      ".spool");
}

namespace {

std::string Little32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>((value >> shift) & 0xFF);
  }
  return bytes;
}

std::uint32_t ReadLittle32(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])}
             << (8 * i);
  }
  return value;
}

std::string Frame(char kind, const google::protobuf::MessageLite& message) {
  const std::string body = kind + message.SerializeAsString();
  return Little32(static_cast<std::uint32_t>(body.size())) +
         Little32(Crc32(0, body.data(), body.size())) + body;
}

template <typename Request>
std::optional<SpoolRecord> Parsed(const std::string& payload) {
  Request request;
  if (!request.ParseFromString(payload)) return std::nullopt;
  return request;
}

struct KindOfRecord {
  char operator()(const v1::ReportRequest&) const { return 'R'; }
  char operator()(const v1::FinishRequest&) const { return 'F'; }
  char operator()(const v1::ReleaseRequest&) const { return 'B'; }
};

}  // namespace

std::string EncodeLease(const v1::LeaseRef& lease) { return Frame('L', lease); }

std::string EncodeRecord(const SpoolRecord& record) {
  const char kind = std::visit(KindOfRecord(), record);
  return std::visit(
      [kind](const auto& request) { return Frame(kind, request); }, record);
}

std::uint32_t BodyBytes(const std::string& prefix) {
  return ReadLittle32(prefix, 0);
}

bool HasSum(const std::string& prefix, const std::string& body) {
  return Crc32(0, body.data(), body.size()) == ReadLittle32(prefix, 4);
}

std::optional<v1::LeaseRef> DecodeLease(const std::string& body) {
  v1::LeaseRef lease;
  const bool is_lease = !body.empty() && body[0] == 'L' &&
                        lease.ParseFromString(body.substr(1)) &&
                        !lease.trial().empty();
  if (!is_lease) return std::nullopt;
  return lease;
}

bool IsRecordKind(char kind) {
  return kind == 'R' || kind == 'F' || kind == 'B';
}

std::optional<SpoolRecord> DecodeRecord(const std::string& body) {
  const std::string payload = body.substr(1);
  switch (body[0]) {
    case 'R':
      return Parsed<v1::ReportRequest>(payload);
    case 'F':
      return Parsed<v1::FinishRequest>(payload);
    case 'B':
      return Parsed<v1::ReleaseRequest>(payload);
    default:
      return std::nullopt;
  }
}

namespace {

constexpr std::int64_t kBlockBytes = 4096;
constexpr auto kPrefix = static_cast<std::int64_t>(kPrefixBytes);

std::optional<FoundRecord> ReadFrame(int fd, std::int64_t at,
                                     std::int64_t end) {
  const auto body = ReadBody(fd, at, end);
  auto record = body.has_value() ? DecodeRecord(*body) : std::nullopt;
  if (!record.has_value()) return std::nullopt;
  return FoundRecord{*std::move(record), at, at + FrameBytes(*body)};
}

// Where the frame at `at` ends, should its length be whole: what it holds might
// look like a record, so a search within it comes second.
std::optional<FoundRecord> ReadBehind(int fd, std::int64_t at,
                                      std::int64_t end) {
  std::string prefix(kPrefixBytes, '\0');
  if (!ReadAt(fd, at, &prefix)) return std::nullopt;
  const std::int64_t next = at + kPrefix + BodyBytes(prefix);
  return next < end ? ReadFrame(fd, next, end) : std::nullopt;
}

// Looks at every byte from `at` on for the begin of a record.
std::optional<FoundRecord> Search(int fd, std::int64_t at, std::int64_t end) {
  for (std::int64_t start = at; start < end; start += kBlockBytes) {
    // A prefix may lie across two blocks.
    const std::int64_t size = std::min(kBlockBytes + kPrefix, end - start);
    std::string block(static_cast<std::size_t>(size), '\0');
    if (!ReadAt(fd, start, &block)) continue;
    for (std::int64_t i = 0; i < kBlockBytes && i + kPrefix < size; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const std::int64_t length = BodyBytes(block.substr(place, kPrefixBytes));
      const bool fits = length > 0 && length <= end - start - i - kPrefix;
      if (!fits || !IsRecordKind(block[place + kPrefixBytes])) continue;
      auto found = ReadFrame(fd, start + i, end);
      if (found.has_value()) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

bool ReadAt(int fd, std::int64_t at, std::string* bytes) {
  for (std::size_t done = 0; done < bytes->size();) {
    const ssize_t n = pread(fd, bytes->data() + done, bytes->size() - done,
                            at + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::string> ReadBody(int fd, std::int64_t at, std::int64_t end) {
  std::string prefix(kPrefixBytes, '\0');
  if (!ReadAt(fd, at, &prefix)) return std::nullopt;
  const std::int64_t length = BodyBytes(prefix);
  if (length == 0 || length > end - at - kPrefix) return std::nullopt;
  std::string body(static_cast<std::size_t>(length), '\0');
  if (!ReadAt(fd, at + kPrefix, &body) || !HasSum(prefix, body)) {
    return std::nullopt;
  }
  return body;
}

std::optional<FoundRecord> FindRecord(int fd, std::int64_t at,
                                      std::int64_t end) {
  auto found = ReadFrame(fd, at, end);
  if (!found.has_value()) found = ReadBehind(fd, at, end);
  if (!found.has_value()) found = Search(fd, at, end);
  return found;
}

}  // namespace frostline::agent

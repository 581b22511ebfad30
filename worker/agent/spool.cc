// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "worker/agent/file.h"
#include "worker/agent/spool_frames.h"
#include "worker/agent/spool_record.h"

namespace frostline::agent {
namespace {

std::string SpoolFolderOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

bool WriteAll(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
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

}  // namespace frostline::agent

// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "worker/agent/file.h"
#include "worker/agent/spool_record.h"

namespace frostline::agent {
namespace {

std::string FolderOf(const std::string& path) {
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
  const int fd = open(
      path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("create", path);
  std::unique_ptr<SpoolFile> file(new SpoolFile(path, fd, 0));
  RETURN_IF_ERROR(file->Write(kSpoolHead + EncodeLease(lease)));
  RETURN_IF_ERROR(SyncFolder(FolderOf(path)));
  return file;
}

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Reopen(
    const std::string& path, SpoolContent* content) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  std::size_t good_bytes = 0;
  auto decoded = DecodeSpool(bytes, &good_bytes);
  if (!decoded.has_value()) {
    return MakeError(ErrorId::kStoreCorrupt, path + " is no spool file",
                     "move it away if it is not needed");
  }
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return FileError("open", path);
  const auto size = static_cast<std::int64_t>(good_bytes);
  std::unique_ptr<SpoolFile> file(new SpoolFile(path, fd, size));
  if (good_bytes < bytes.size()) {
    Log(LogLevel::kWarning, "spool_tail_cut",
        {{"path", path}, {"bytes", absl::StrCat(bytes.size() - good_bytes)}});
    if (ftruncate(fd, size) != 0) return FileError("cut", path);
  }
  *content = *std::move(decoded);
  return file;
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

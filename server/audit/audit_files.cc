// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/audit_chain.h"
#include "base/plain/file.h"
#include "server/audit/audit_entry.h"

namespace frostline::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of one file

absl::Status Failed(const std::string& what, const std::string& path) {
  return MakeError(
      ErrorId::kStoreIo,
      absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(errno)),
      "look at the disk of the data folder; entries wait in the "
      "database meanwhile");
}

// Empty where there is no such file.
absl::StatusOr<std::string> Read(const std::string& path) {
  std::error_code unreadable;
  if (!fs::exists(path, unreadable)) return "";
  auto bytes = ReadWholeFile(path, kMostBytes);
  if (bytes.ok()) return std::move(bytes).value();
  return MakeError(ErrorId::kStoreIo,
                   absl::StrCat(path, ": ", bytes.fault().cause),
                   "look at the disk of the data folder");
}

// Calls `take` on lines with a newline, the last first, until it answers false.
bool ForLinesBack(std::string_view text,
                  absl::FunctionRef<bool(std::string_view)> take) {
  std::size_t end = text.rfind('\n');
  while (end != std::string_view::npos) {
    const std::size_t before =
        end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (!take(text.substr(begin, end - begin))) return false;
    end = before;
  }
  return true;
}

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return fdatasync(fd) == 0 ? absl::OkStatus() : Failed("sync", path);
}

absl::Status SyncAuditFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const absl::Status status =
      synced ? absl::OkStatus() : Failed("sync", folder);
  if (fd >= 0) close(fd);
  return status;
}

// Lines of the row whose entries come after `last`.
std::string LinesAfter(const storage::AuditRow& row, std::int64_t last) {
  if (row.first > last) return row.lines;
  std::string later;
  ForLinesBack(row.lines, [&](std::string_view line) {
    const auto entry = ReadEntry(line);
    if (!entry.has_value() || entry->sequence() <= last) return false;
    later.insert(0, std::string(line) + "\n");
    return true;
  });
  return later;
}

}  // namespace

AuditFiles::AuditFiles(std::string folder, std::size_t full)
    : folder_(std::move(folder)), full_(full) {}

std::vector<std::string> AuditFiles::Paths() const {
  std::vector<std::string> numbered;
  std::error_code unreadable;  // then there is none
  for (const auto& file : fs::directory_iterator(folder_, unreadable)) {
    const std::string name = file.path().filename();
    if (absl::StartsWith(name, "audit-")) numbered.push_back(file.path());
  }
  std::sort(numbered.rbegin(), numbered.rend());
  numbered.insert(numbered.begin(), absl::StrCat(folder_, "/", kAuditFile));
  return numbered;
}

absl::Status AuditFiles::Open() {
  if (last_ >= 0) return absl::OkStatus();
  const std::string path = Paths().front();
  ASSIGN_OR_RETURN(const std::string text, Read(path));
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  if (whole < text.size() &&
      truncate(path.c_str(), static_cast<off_t>(whole)) != 0) {
    return Failed("shorten", path);
  }
  bytes_ = whole;
  const auto first = ReadEntry(
      std::string_view(text).substr(0, std::min(text.find('\n'), text.size())));
  first_ = first.has_value() ? first->sequence() : 0;
  std::int64_t last = 0;
  RETURN_IF_ERROR(ReadBack([&last](const v1::AuditEntry& entry) {
    last = entry.sequence();
    return false;
  }));
  last_ = last;
  return absl::OkStatus();
}

absl::StatusOr<v1::AuditEntry> AuditFiles::Last() {
  RETURN_IF_ERROR(Open());
  v1::AuditEntry last;
  RETURN_IF_ERROR(ReadBack([&last](const v1::AuditEntry& entry) {
    last = entry;
    return false;
  }));
  return last;
}

absl::Status AuditFiles::TurnOver() {
  const std::string path = Paths().front();
  const std::string full = absl::StrCat(folder_, "/", AuditFileName(first_));
  if (rename(path.c_str(), full.c_str()) != 0) return Failed("rename", path);
  bytes_ = 0;
  first_ = 0;
  return absl::OkStatus();
}

absl::Status AuditFiles::Append(const std::vector<storage::AuditRow>& rows) {
  if (rows.empty()) return absl::OkStatus();
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failed("make", folder_);
  }
  RETURN_IF_ERROR(Open());
  if (bytes_ >= full_) RETURN_IF_ERROR(TurnOver());
  std::string lines;
  for (const storage::AuditRow& row : rows) lines += LinesAfter(row, last_);
  if (lines.empty()) return absl::OkStatus();
  const std::string path = Paths().front();
  const int fd =
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Failed("open", path);
  absl::Status written = WriteAll(fd, lines, path);
  close(fd);
  // Its name, too, outlives a power cut.
  if (written.ok() && bytes_ == 0) written = SyncAuditFolder(folder_);
  if (!written.ok()) {
    last_ = -1;  // nobody knows how much of it is there
    return written;
  }
  if (first_ == 0) first_ = rows.front().first;
  bytes_ += lines.size();
  last_ = std::max(last_, rows.back().last);
  return absl::OkStatus();
}

absl::Status AuditFiles::ReadBack(
    absl::FunctionRef<bool(const v1::AuditEntry&)> take) const {
  for (const std::string& path : Paths()) {
    ASSIGN_OR_RETURN(const std::string text, Read(path));
    const bool all = ForLinesBack(text, [&take](std::string_view line) {
      const auto entry = ReadEntry(line);
      return !entry.has_value() || take(*entry);
    });
    if (!all) break;
  }
  return absl::OkStatus();
}

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/data_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/descriptor.h"
#include "base/plain/file.h"
#include "base/plain/sums.h"
#include "base/remote_file_system.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"

namespace frostline::storage {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr char kEphemeralName[] = "frostline-ephemeral-";

absl::Status Sync(const std::string& path, int flags) {
  const Descriptor file(open(path.c_str(), flags | O_CLOEXEC));
  if (!file.ok()) return FileError(absl::StrCat("open ", path));
  if (fsync(file.number()) == 0) return absl::OkStatus();
  return FileError(absl::StrCat("sync ", path));
}

}  // namespace

absl::Status FileError(const std::string& doing) {
  const int error = errno;
  const std::string cause = absl::StrCat(doing, ": ", std::strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return StoreFull(cause);
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return StoreIo(cause);
    default:
      return MakeError(ErrorId::kStoreUnwritable, cause,
                       "give a data folder that this user may create and "
                       "write");
  }
}

absl::Status CreateFolder(const std::string& path) {
  if (mkdir(path.c_str(), kFolderMode) == 0) return SyncFolder(FolderOf(path));
  if (errno == EEXIST) return absl::OkStatus();  // a file shows at first use
  if (errno != ENOENT || FolderOf(path) == path) {
    return FileError(absl::StrCat("create folder ", path));
  }
  RETURN_IF_ERROR(CreateFolder(FolderOf(path)));
  // "a/b/" is there once "a/b" is.
  if (mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return FileError(absl::StrCat("create folder ", path));
  }
  return SyncFolder(FolderOf(path));
}

absl::Status CreateFile(const std::string& path) {
  const Descriptor file(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode));
  if (file.ok()) return absl::OkStatus();
  return FileError(absl::StrCat("open ", path));
}

absl::Status SyncFile(const std::string& path) { return Sync(path, O_RDWR); }

absl::Status SyncFolder(const std::string& path) {
  return Sync(path, O_RDONLY | O_DIRECTORY);
}

absl::Status RenameFile(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return FileError(absl::StrCat("rename ", from));
  }
  return SyncFolder(FolderOf(to));
}

absl::Status CheckFileSystemKind(unsigned long magic,
                                 const std::string& folder) {
  const char* const remote = RemoteFileSystem(magic);
  if (remote == nullptr) return absl::OkStatus();
  return MakeError(ErrorId::kStoreFileSystem,
                   absl::StrCat(folder, " is on ", remote),
                   "put the data folder on a local disk");
}

absl::Status CheckFileSystem(const std::string& folder) {
  struct statfs facts;
  if (statfs(folder.c_str(), &facts) != 0) {
    return FileError(absl::StrCat("look at the file system of ", folder));
  }
  return CheckFileSystemKind(static_cast<unsigned long>(facts.f_type), folder);
}

namespace {

// With less room than this the ballast itself would fill the disk.
constexpr std::uint64_t kTimesItsSize = 4;

std::int64_t SizeOf(const Descriptor& file) {
  struct stat facts;
  return fstat(file.number(), &facts) == 0 ? facts.st_size : 0;
}

}  // namespace

bool Ballast::Refill() {
  const Descriptor file(
      open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return false;
  if (SizeOf(file) >= bytes_) return true;
  struct statvfs room;
  if (fstatvfs(file.number(), &room) != 0 ||
      room.f_bavail * room.f_frsize <
          kTimesItsSize * static_cast<std::uint64_t>(bytes_)) {
    return false;
  }
  // Reserves real blocks: giving up a hole would free nothing.
  if (posix_fallocate(file.number(), 0, bytes_) == 0) return true;
  return ftruncate(file.number(), 0) != 0;
}

bool Ballast::Release() {
  const Descriptor file(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.ok() || SizeOf(file) == 0) return false;
  // Synced, because the room is free only when the file system has noted it.
  const bool released =
      ftruncate(file.number(), 0) == 0 && fsync(file.number()) == 0;
  FROSTLINE_FAILPOINT(kBallastReleased);
  return released;
}

namespace {

// Returns "process 4711", or no number when the holder has not written it yet.
std::string HolderOf(int lock) {
  std::array<char, 32> digits;
  const ssize_t size = pread(lock, digits.data(), digits.size(), 0);
  std::string pid;
  for (ssize_t i = 0; i < size; ++i) {
    const char digit = digits[static_cast<std::size_t>(i)];
    if (digit < '0' || digit > '9') break;
    pid.push_back(digit);
  }
  return pid.empty() ? "another process" : absl::StrCat("process ", pid);
}

absl::Status LockFolder(int lock, const std::string& folder) {
  if (TakeLock(lock, LockKind::kAlone, LockWait::kTry)) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return FileError(absl::StrCat("lock ", folder));
  return MakeError(ErrorId::kStoreLocked,
                   absl::StrCat(HolderOf(lock), " holds ", folder),
                   "use that coordinator, stop it, or give another folder");
}

absl::Status WritePid(int lock) {
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(lock, 0) != 0) return FileError("empty frostline.lock");
  const ssize_t written = pwrite(lock, pid.data(), pid.size(), 0);
  if (written == static_cast<ssize_t>(pid.size())) return absl::OkStatus();
  if (written >= 0) errno = ENOSPC;  // there was room for a part of it
  return FileError("write frostline.lock");
}

// Checks who may write the folder: they could put another database in its
// place.
absl::Status CheckOwnership(const std::string& folder) {
  struct stat found{};
  if (stat(folder.c_str(), &found) != 0) {
    return FileError(absl::StrCat("look at ", folder));
  }
  if ((found.st_mode & S_IWOTH) == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kFolderUnsafe,
      absl::StrCat("everybody on this machine may write ", folder),
      absl::StrCat("`chmod o-w ", folder, "`, or give a folder below it"));
}

}  // namespace

DataFolder::DataFolder(const std::string& path, int lock,
                       std::int64_t ballast_bytes)
    : path_(path),
      lock_(lock),
      ballast_(path + "/frostline.ballast", ballast_bytes) {}

absl::StatusOr<std::unique_ptr<DataFolder>> DataFolder::Lock(
    const std::string& path, std::int64_t ballast_bytes) {
  RETURN_IF_ERROR(CreateFolder(path));
  RETURN_IF_ERROR(CheckFileSystem(path));
  RETURN_IF_ERROR(CheckOwnership(path));
  const std::string lock_path = absl::StrCat(path, "/frostline.lock");
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return FileError(absl::StrCat("open ", lock_path));
  std::unique_ptr<DataFolder> folder(new DataFolder(path, lock, ballast_bytes));
  RETURN_IF_ERROR(LockFolder(lock, path));
  absl::Status status = WritePid(lock);
  if (!status.ok() && folder->ballast_.Release()) status = WritePid(lock);
  RETURN_IF_ERROR(status);
  return folder;
}

absl::StatusOr<std::unique_ptr<DataFolder>> DataFolder::Open(
    const std::string& path, std::int64_t ballast_bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> folder,
                   Lock(path, ballast_bytes));
  absl::Status status = CreateFile(folder->DatabasePath());
  if (!status.ok() && folder->ballast_.Release()) {
    status = CreateFile(folder->DatabasePath());
  }
  RETURN_IF_ERROR(status);
  if (!folder->ballast_.Refill()) {
    Log(LogLevel::kWarning, "disk_nearly_full", {{"folder", path}});
  }
  RETURN_IF_ERROR(SyncFolder(path));
  return folder;
}

namespace {

std::string MarkIn(const std::string& folder) {
  return folder + "/frostline.ephemeral";
}

// Removes folders that killed processes left: they have a mark, and nobody
// holds their lock. Since an owner takes the lock before it makes the mark, no
// folder in use is removed. Other folders stay, whatever their names, and links
// are not followed.
void RemoveAbandonedIn(const std::filesystem::path& parent) {
  std::error_code failure;
  for (auto each = std::filesystem::directory_iterator(parent, failure);
       !failure && each != std::filesystem::directory_iterator();
       each.increment(failure)) {
    const std::string path = each->path().string();
    std::error_code unseen;
    if (!absl::StartsWith(each->path().filename().string(), kEphemeralName) ||
        each->is_symlink(unseen) ||
        !std::filesystem::exists(MarkIn(path), unseen)) {
      continue;
    }
    const auto held = DataFolder::Lock(path);
    if (held.ok()) std::filesystem::remove_all(path, unseen);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataFolder>> DataFolder::OpenEphemeral() {
  std::error_code failure;
  const std::filesystem::path parent =
      std::filesystem::temp_directory_path(failure);
  if (failure) {
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat("no temporary folder: ", failure.message()),
                     "let TMPDIR name a folder");
  }
  RemoveAbandonedIn(parent);
  std::string path = (parent / absl::StrCat(kEphemeralName, "XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    return FileError(absl::StrCat("make ", path));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> folder, Lock(path));
  folder->is_ephemeral_ = true;
  RETURN_IF_ERROR(CreateFile(MarkIn(path)));
  RETURN_IF_ERROR(CreateFile(folder->DatabasePath()));
  return folder;
}

DataFolder::~DataFolder() {
  if (!is_ephemeral_) return;
  std::error_code failure;
  std::filesystem::remove_all(path_, failure);
  if (failure) {
    Log(LogLevel::kWarning, "ephemeral_folder_stays",
        {{"folder", path_}, {"why", failure.message()}});
  }
}

std::int64_t DataFolder::FreeBytes() const {
  struct statvfs room;
  if (statvfs(path_.c_str(), &room) != 0) return 0;
  return static_cast<std::int64_t>(room.f_bavail * room.f_frsize);
}

namespace {

constexpr std::size_t kMostBytes = 4096;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

absl::Status CheckMode(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return absl::OkStatus();
  if ((found.st_mode & kOthers) == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kStoreUnwritable,
      absl::StrCat("others may read ", path, ", which has mode ",
                   absl::StrFormat("%04o", found.st_mode & 07777U)),
      absl::StrCat("`chmod 600 ", path, "`"));
}

// Writes a file that is whole whenever it is there.
absl::Status WriteWhole(const std::string& path, const std::string& text) {
  const Expected<Done> written = WriteFileAtomically(path, text, kPrivateFile);
  if (written.ok()) return absl::OkStatus();
  errno = written.fault().system_error;
  return FileError(absl::StrCat("write ", path));
}

}  // namespace

absl::StatusOr<SecretString> KeepLeaseKey(const std::string& path) {
  RETURN_IF_ERROR(CheckMode(path));
  const auto stored = ReadWholeFile(path, kMostBytes);
  if (stored.ok()) {
    std::string key = stored.value().substr(0, stored.value().find('\n'));
    // The key has the form of a sum: 64 hexadecimal digits.
    if (IsSha256(key)) return SecretString(std::move(key));
  }
  SecretString key(absl::StrCat(RandomHexId(), RandomHexId()));
  const absl::Status written =
      WriteWhole(path, absl::StrCat(key.Reveal(), "\n"));
  if (!written.ok()) {
    Log(LogLevel::kWarning, "lease_key_not_kept",
        {{"file", path}, {"why", std::string(written.message())}});
  }
  return key;
}

namespace {

constexpr std::size_t kMostStarts = 128;

std::vector<WallMicros> ReadStarts(const std::string& path) {
  std::vector<WallMicros> starts;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    WallMicros start = 0;
    if (absl::SimpleAtoi(line, &start)) starts.push_back(start);
  }
  if (starts.size() > kMostStarts) {
    starts.erase(starts.begin(), starts.end() - kMostStarts);
  }
  return starts;
}

}  // namespace

std::vector<WallMicros> NoteStartIn(const std::string& path, WallMicros now) {
  const std::vector<WallMicros> before = ReadStarts(path);
  std::vector<WallMicros> starts = before;
  starts.push_back(now);
  std::string lines;
  for (const WallMicros start : starts) absl::StrAppend(&lines, start, "\n");
  const absl::Status noted = WriteWhole(path, lines);
  if (!noted.ok()) {
    Log(LogLevel::kWarning, "start_not_noted",
        {{"why", std::string(noted.message())}});
  }
  return before;
}

namespace {

absl::Status Removed(const std::string& path, const std::string& how) {
  return MakeError(ErrorId::kStoreRemoved,
                   absl::StrCat(path, " was ", how, " while it was open"),
                   "put the data folder back or restore the latest backup, "
                   "then start again");
}

}  // namespace

WatchedFiles::WatchedFiles(const std::string& database) {
  for (const char* const suffix : {"", "-wal", "-shm"}) {
    const std::string path = absl::StrCat(database, suffix);
    struct stat facts;
    if (stat(path.c_str(), &facts) != 0) continue;
    files_.push_back({path, facts.st_dev, facts.st_ino});
  }
}

absl::Status WatchedFiles::Check() const {
  for (const File& file : files_) {
    struct stat facts;
    if (stat(file.path.c_str(), &facts) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) {
        return Removed(file.path, "removed");
      }
      continue;  // a disk that fails says so where it is written
    }
    if (facts.st_dev != file.device || facts.st_ino != file.number) {
      return Removed(file.path, "replaced");
    }
  }
  return absl::OkStatus();
}

namespace {

// Says whether a coordinator has the database open, or one was killed.
bool HasLog(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path + "-wal", none);
}

}  // namespace

absl::StatusOr<AuditEnd> AuditEndIn(const std::string& data_folder) {
  const std::string path = DatabaseIn(data_folder);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("there is no database in ", data_folder),
                     "name the folder of `frostline serve --data`");
  }
  const auto role =
      HasLog(path) ? Database::Role::kReader : Database::Role::kStill;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   Database::Open(path, role));
  RETURN_IF_ERROR(ReadVersion(*database, path, SchemaSteps()).status());
  AuditEnd end;
  ASSIGN_OR_RETURN(
      const std::int64_t tables,
      database->ReadInt(
          "SELECT count(*) FROM sqlite_schema WHERE name = 'audit'"));
  if (tables == 0) return end;  // of a version without one
  ASSIGN_OR_RETURN(Statement statement, database->Prepare(sql::kListAudit));
  statement.Int(kAuditMoved - 1);
  statement.Int(std::numeric_limits<std::int64_t>::max());
  while (true) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return end;
    ASSIGN_OR_RETURN(AuditRow row, ReadRow<AuditRow>(statement));
    if (row.first == kAuditMoved) {
      end.moved = row.last;
    } else {
      end.rows.push_back(std::move(row));
    }
  }
}

}  // namespace frostline::storage

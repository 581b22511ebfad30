// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sqlite_error.h"

#include <sqlite3.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::storage {
namespace {

// Why the last failed write to the file failed. errno and
// sqlite3_system_errno() are of no use: more has happened since.
int WriteErrno(sqlite3* handle, Target target) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle, "main",
                       target == Target::kLog ? SQLITE_FCNTL_JOURNAL_POINTER
                                              : SQLITE_FCNTL_FILE_POINTER,
                       &file);
  int error = 0;
  if (file != nullptr && file->pMethods != nullptr) {
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}

// A write that found no room is a full disk, whatever limit it was: SQLite
// itself says so for ENOSPC alone. A sync that failed is never one of these.
bool IsNoRoom(sqlite3* handle, int code, Target target) {
  if (code == SQLITE_FULL) return true;
  if (code == SQLITE_IOERR_SHMSIZE) {
    const int error = sqlite3_system_errno(handle);
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
  }
  if (code != SQLITE_IOERR_WRITE) return false;
  int error = WriteErrno(handle, target);
  // A journal of a database that is being made is closed again by now.
  if (error == 0) error = sqlite3_system_errno(handle);
  return error == EDQUOT || error == EFBIG;
}

}  // namespace

absl::Status StoreFull(const std::string& cause) {
  return MakeError(ErrorId::kStoreFull, cause,
                   "make room on the disk; nothing of what was stored is lost");
}

absl::Status StoreCorrupt(const std::string& cause) {
  return MakeError(ErrorId::kStoreCorrupt, cause,
                   "keep a copy of the data folder and restore the latest "
                   "backup");
}

absl::Status StoreIo(const std::string& cause) {
  return MakeError(ErrorId::kStoreIo, cause,
                   "look at the kernel's log, and start again on a healthy "
                   "disk");
}

absl::Status SqliteError(sqlite3* handle, int code, const std::string& doing,
                         Target target) {
  const std::string cause =
      absl::StrCat(doing, ": ", sqlite3_errmsg(handle), " (SQLite ", code, ")");
  if (IsNoRoom(handle, code, target)) return StoreFull(cause);
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return StoreCorrupt(cause);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return MakeError(ErrorId::kStoreBusy, cause,
                       "close other programs that have the database open");
    case SQLITE_INTERRUPT:
      return MakeError(ErrorId::kStoreBusy, cause,
                       "ask for fewer rows at once, or try again when less is "
                       "going on");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return MakeError(ErrorId::kStoreUnwritable, cause,
                       "correct owner and mode of the data folder");
    case SQLITE_TOOBIG:
      return MakeError(ErrorId::kFieldTooLarge, cause,
                       "send less in one field");
    case SQLITE_CONSTRAINT:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_ERROR:
      return MakeError(ErrorId::kInternal, cause,
                       "this is a bug in Frostline: report it with the "
                       "coordinator's log");
    default:
      return StoreIo(cause);
  }
}

bool IsStoreFailure(const absl::Status& status) {
  return IsFatal(status) || HasErrorId(status, ErrorId::kStoreFull) ||
         HasErrorId(status, ErrorId::kStoreBusy);
}

bool IsFatal(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kStoreIo) ||
         HasErrorId(status, ErrorId::kStoreCorrupt) ||
         HasErrorId(status, ErrorId::kStoreUnwritable) ||
         HasErrorId(status, ErrorId::kStoreRemoved);
}

}  // namespace frostline::storage

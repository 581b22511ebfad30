// SPDX-License-Identifier: Apache-2.0
//
// What the store does for itself after commits and between them: its log is
// moved into the database, and unused pages go back to the disk.
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "storage/sqlite/sqlite_store.h"

namespace frostline::storage {
namespace {

// So many are kept, and this share of the file, as they are soon used again.
constexpr std::int64_t kFreePagesKept = 1024;
constexpr std::int64_t kShareKept = 8;
// A slice is 1 MiB of log: a few milliseconds.
constexpr char kReturnSlice[] = "PRAGMA incremental_vacuum(256)";

}  // namespace

absl::Status SqliteStore::CountFreePages() {
  ASSIGN_OR_RETURN(const std::int64_t pages,
                   writer_->ReadInt("PRAGMA freelist_count"));
  free_pages_ = pages;
  return absl::OkStatus();
}

void SqliteStore::Committed() {
  Failed(CountFreePages());
  const int pages = writer_->wal_pages();
  if (pages < checkpointed_pages_) checkpointed_pages_ = 0;  // begun again
  WatchLog(pages);
  if (pages - checkpointed_pages_ < limits_.pages_per_checkpoint) return;
  checkpointed_pages_ = pages;
  MoveLog();
}

// The commit stands whatever comes of this: only a later one can be told. A
// full disk is none of its business as long as the log finds room.
void SqliteStore::MoveLog() {
  const absl::StatusOr<bool> whole = writer_->Checkpoint();
  const absl::Status& status = whole.status();
  if (status.ok() && *whole) returned_pages_ = 0;  // the file is shorter
  if (!HasErrorId(status, ErrorId::kStoreFull)) Failed(status);
  if (ballast_is_out_ && status.ok() && folder_->ballast().Refill()) {
    ballast_is_out_ = false;
    Log(LogLevel::kInfo, "disk_has_room_again");
  }
}

// Some reader keeps the log from being begun again, for longer than any of ours
// may.
void SqliteStore::WatchLog(int pages) {
  const bool is_long = pages * kStorePageBytes > limits_.log_alarm_bytes;
  if (is_long && !log_is_long_) {
    Log(LogLevel::kWarning, "store_log_is_long",
        {{"bytes", absl::StrCat(pages * kStorePageBytes)}});
  }
  log_is_long_ = is_long;
}

absl::StatusOr<bool> SqliteStore::Tend() {
  slot_.Take();
  absl::StatusOr<bool> more = false;
  absl::Status status = failure_;
  if (status.ok()) status = files_.Check();
  if (status.ok()) {
    more = ReturnPages();
    status = more.status();
  }
  Failed(status);
  slot_.Give();
  RETURN_IF_ERROR(status);
  return more;
}

// The file gets shorter when all of the log is in it. A reader who looks at
// what was before keeps it out: then it is tried at each call.
absl::StatusOr<bool> SqliteStore::ReturnPages() {
  ASSIGN_OR_RETURN(const bool some, HasPagesToReturn());
  if (!some) {
    if (returned_pages_ > 0) MoveLog();
    return false;
  }
  const std::int64_t before = free_pages_;
  const absl::Status returned = writer_->Execute(kReturnSlice);
  // There is no room for the log, which comes first.
  if (HasErrorId(returned, ErrorId::kStoreFull)) return false;
  RETURN_IF_ERROR(returned);
  RETURN_IF_ERROR(CountFreePages());
  returned_pages_ += before - free_pages_;
  Committed();
  ASSIGN_OR_RETURN(const bool more, HasPagesToReturn());
  if (!more) MoveLog();
  return more;
}

absl::StatusOr<bool> SqliteStore::HasPagesToReturn() {
  if (!returns_pages_ || free_pages_ <= kFreePagesKept) return false;
  ASSIGN_OR_RETURN(const std::int64_t pages,
                   writer_->ReadInt("PRAGMA page_count"));
  return free_pages_ > pages / kShareKept;
}

}  // namespace frostline::storage

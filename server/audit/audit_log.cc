// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/log.h"
#include "base/plain/audit_chain.h"
#include "base/plain/descriptor.h"
#include "base/plain/file.h"
#include "base/plain/json.h"
#include "proto/wire_values.h"
#include "server/auth/access.h"

namespace frostline::server {
namespace {

constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%E6SZ";
constexpr std::size_t kMostText = 256;  // of a field that the caller chose

std::string OutcomeOf(const absl::Status& status) {
  if (status.ok()) return "OK";
  const auto detail = DetailOf(status);
  return detail.has_value() ? std::string(KindOf(detail->id).reason)
                            : absl::StatusCodeToString(status.code());
}

// Returns "" when there is no such text.
std::string TextAt(const JsonValue& root, std::string_view name) {
  const JsonValue* const found = root.Find(name);
  return found == nullptr ? "" : std::string(found->text);
}

}  // namespace

v1::AuditEntry EntryOf(const CallContext& caller, const absl::Status& outcome,
                       WallMicros now) {
  v1::AuditEntry entry;
  *entry.mutable_time() = proto::TimestampToProto(now);
  entry.set_subject(caller.identity.subject);
  entry.set_role(RoleToProto(caller.identity.role));
  entry.set_address(caller.peer);
  entry.set_method(caller.method);
  entry.set_resource(caller.resource.substr(0, kMostText));
  entry.set_request_id(caller.request_id.substr(0, kMostText));
  entry.set_outcome(OutcomeOf(outcome));
  return entry;
}

std::string TextOf(const v1::AuditEntry& entry) {
  const auto role = RoleFromProto(entry.role());
  const absl::Time time = absl::FromUnixSeconds(entry.time().seconds()) +
                          absl::Nanoseconds(entry.time().nanos());
  std::string text =
      JsonObject()
          .Put("sequence", absl::StrCat(entry.sequence()))
          .PutText("time",
                   absl::FormatTime(kTimeFormat, time, absl::UTCTimeZone()))
          .PutText("subject", entry.subject())
          .PutText("role", role.has_value() ? NameOfRole(*role) : "")
          .PutText("address", entry.address())
          .PutText("method", entry.method())
          .PutText("resource", entry.resource())
          .PutText("request_id", entry.request_id())
          .PutText("outcome", entry.outcome())
          .Text();
  text.pop_back();  // the chain's member follows
  return text;
}

std::optional<v1::AuditEntry> ReadEntry(std::string_view line) {
  const auto chained = ReadChainedLine(line);
  const auto parsed = Json::Parse(line);
  if (!chained.has_value() || !parsed.ok()) return std::nullopt;
  const JsonValue& root = parsed.value().root();
  const JsonValue* const sequence = root.Find("sequence");
  if (sequence == nullptr || !sequence->is(JsonKind::kNumber)) {
    return std::nullopt;
  }
  v1::AuditEntry entry;
  entry.set_sequence(static_cast<std::int64_t>(sequence->number));
  absl::Time time;
  std::string ignored;
  if (absl::ParseTime(absl::RFC3339_full, TextAt(root, "time"), &time,
                      &ignored)) {
    *entry.mutable_time() = proto::TimestampToProto(absl::ToUnixMicros(time));
  }
  entry.set_subject(TextAt(root, "subject"));
  const auto role = RoleNamed(TextAt(root, "role"));
  if (role.has_value()) entry.set_role(RoleToProto(*role));
  entry.set_address(TextAt(root, "address"));
  entry.set_method(TextAt(root, "method"));
  entry.set_resource(TextAt(root, "resource"));
  entry.set_request_id(TextAt(root, "request_id"));
  entry.set_outcome(TextAt(root, "outcome"));
  entry.set_chain_sha256(absl::HexStringToBytes(std::string(chained->chain)));
  return entry;
}

std::string ChainOf(const v1::AuditEntry& entry) {
  return absl::BytesToHexString(entry.chain_sha256());
}

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

// Returns "" when there is no such file.
absl::StatusOr<std::string> Read(const std::string& path) {
  std::error_code unreadable;
  if (!fs::exists(path, unreadable)) return "";
  auto bytes = ReadWholeFile(path, kMostBytes);
  if (bytes.ok()) return std::move(bytes).value();
  return MakeError(ErrorId::kStoreIo,
                   absl::StrCat(path, ": ", bytes.fault().cause),
                   "look at the disk of the data folder");
}

// Calls `take` with each line that has a newline, the last one first, until it
// returns false.
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

absl::Status AppendTo(const std::string& path, std::string_view lines) {
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return Failed("open", path);
  if (!WriteAll(file.number(), lines)) return Failed("write", path);
  if (fdatasync(file.number()) != 0) return Failed("sync", path);
  return absl::OkStatus();
}

// Returns the lines of a row whose entries come after `last`.
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
  absl::Status written = AppendTo(path, lines);
  // Its name, too, outlives a power cut.
  if (written.ok() && bytes_ == 0 && !SyncNames(folder_)) {
    written = Failed("sync", folder_);
  }
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

namespace {

using storage::AuditRow;

constexpr Duration kMoved = std::chrono::seconds(1);
constexpr Duration kMovedAfterFailure = std::chrono::seconds(10);
constexpr int kRefusedInSecond = 16;
constexpr int kRowsAtOnce = 1'000;
constexpr std::size_t kMostNoted = 10'000;
constexpr std::int64_t kMostWithoutFiles = 100'000;

std::vector<v1::AuditEntry> EntriesOf(const AuditRow& row) {
  std::vector<v1::AuditEntry> entries;
  for (const auto line : absl::StrSplit(row.lines, '\n', absl::SkipEmpty())) {
    auto entry = ReadEntry(std::string_view(line.data(), line.size()));
    if (entry.has_value()) entries.push_back(*std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::vector<AuditRow>> RowsAfter(
    const storage::TrialStore& store, std::int64_t after) {
  std::vector<AuditRow> rows;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<AuditRow> page,
                     store.ListAudit(after, kRowsAtOnce));
    if (page.empty()) return rows;
    after = page.back().first;
    std::move(page.begin(), page.end(), std::back_inserter(rows));
  }
}

}  // namespace

AuditLog::AuditLog(std::string folder, CommitLoop& loop, TaskPool& readers,
                   const storage::TrialStore& store, const Clock& clock)
    : loop_(loop),
      readers_(readers),
      store_(store),
      clock_(clock),
      has_files_(!folder.empty()),
      files_(std::move(folder)) {}

absl::Status AuditLog::Load() {
  noted_.clear();
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows, RowsAfter(store_, 0));
  stored_ = {0, FirstChain()};
  const auto take_up = [this](const v1::AuditEntry& last) FROSTLINE_ON_LOOP {
    if (last.sequence() > stored_.sequence) {
      stored_ = {last.sequence(), ChainOf(last)};
    }
  };
  if (!rows.empty()) {
    const std::vector<v1::AuditEntry> last = EntriesOf(rows.back());
    if (!last.empty()) take_up(last.back());
  }
  if (has_files_) {
    const MutexLock lock(&files_mutex_);
    ASSIGN_OR_RETURN(const v1::AuditEntry last, files_.Last());
    take_up(last);
    RETURN_IF_ERROR(CheckEnd(last));
  }
  written_ = stored_;
  return absl::OkStatus();
}

void AuditLog::Note(const CallContext& caller, const absl::Status& outcome) {
  if (noted_.size() >= kMostNoted) return;  // the store takes no writes
  noted_.push_back(EntryOf(caller, outcome, clock_.Wall()));
}

void AuditLog::NoteRefused(const CallContext& caller, const absl::Status& why) {
  bool is_first = false;
  {
    const MutexLock lock(&refused_mutex_);
    const SteadyTime now = clock_.Steady();
    if (now - refused_since_ >= std::chrono::seconds(1)) {
      refused_since_ = now;
      refused_in_second_ = 0;
    }
    if (++refused_in_second_ > kRefusedInSecond) return;
    is_first = refused_.empty();
    refused_.push_back(EntryOf(caller, why, clock_.Wall()));
  }
  // The loop's turn takes it up.
  if (is_first) (void)loop_.Post([](Batch&) {}, Urgency::kRead);
}

void AuditLog::TakeRefused() {
  const MutexLock lock(&refused_mutex_);
  for (v1::AuditEntry& entry : refused_) noted_.push_back(std::move(entry));
  refused_.clear();
}

void AuditLog::Write(Batch& batch) {
  TakeRefused();
  if (noted_.empty() || !batch.MayWrite()) return;
  AuditRow row;
  row.first = written_.sequence + 1;
  End end = written_;
  for (v1::AuditEntry& entry : noted_) {
    entry.set_sequence(++end.sequence);
    const std::string text = TextOf(entry);
    end.chain = NextChain(end.chain, text);
    row.lines += ChainedLine(text, end.chain) + "\n";
  }
  row.last = end.sequence;
  const absl::Status put =
      batch.Write([&row](storage::Transaction& transaction) {
        return transaction.PutAudit(row);
      });
  if (put.ok()) written_ = end;
  noted_.clear();  // the group's failure is theirs, too
}

void AuditLog::Committed() { stored_ = written_; }

void AuditLog::Undo() {
  noted_.clear();
  written_ = stored_;
}

void AuditLog::Turn(Batch& batch) {
  Write(batch);
  const std::optional<SteadyTime> due = NextDue();
  if (!due.has_value() || clock_.Steady() < *due) return;
  is_moving_ = true;
  const bool posted = readers_.TryPost([this] {
    const auto moved = Move();
    (void)loop_.Post(
        [this, moved](Batch& later) {
          later.AssertOnLoop();
          TakeMoved(later, moved);
        },
        Urgency::kRead);
  });
  if (!posted) is_moving_ = false;
}

std::optional<SteadyTime> AuditLog::NextDue() const {
  if (is_moving_ || stored_.sequence == moved_) return std::nullopt;
  return next_move_;
}

absl::StatusOr<AuditLog::Moved> AuditLog::Move() {
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows, RowsAfter(store_, 0));
  if (rows.empty()) return Moved{};
  Moved moved{.sequence = rows.back().last, .forget_before = 0};
  if (!has_files_) {
    moved.forget_before = moved.sequence - kMostWithoutFiles;
    return moved;
  }
  const MutexLock lock(&files_mutex_);
  RETURN_IF_ERROR(files_.Append(rows));
  moved.forget_before = rows.back().first;
  return moved;
}

void AuditLog::TakeMoved(Batch& batch, const absl::StatusOr<Moved>& moved) {
  is_moving_ = false;
  next_move_ = clock_.Steady() + (moved.ok() ? kMoved : kMovedAfterFailure);
  if (!moved.ok()) {
    Log(LogLevel::kWarning, "audit_not_moved",
        {{"why", std::string(moved.status().message())}});
    return;
  }
  moved_ = moved->sequence;
  const bool is_new = has_files_ && moved_ > marked_;
  if ((moved->forget_before <= 1 && !is_new) || !batch.MayWrite()) return;
  // If this fails, they are forgotten with the next ones.
  const absl::Status written =
      batch.Write([&moved, this](storage::Transaction& transaction) {
        RETURN_IF_ERROR(transaction.ForgetAuditBefore(moved->forget_before));
        if (!has_files_) return absl::OkStatus();
        return transaction.PutAudit({.first = storage::kAuditMoved,
                                     .last = moved->sequence,
                                     .lines = ""});
      });
  if (written.ok()) marked_ = moved_;
}

absl::Status AuditLog::CheckEnd(const v1::AuditEntry& last) {
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows,
                   store_.ListAudit(storage::kAuditMoved - 1, 1));
  if (rows.empty() || rows.front().first != storage::kAuditMoved) {
    return absl::OkStatus();
  }
  marked_ = rows.front().last;
  if (last.sequence() >= marked_) return absl::OkStatus();
  Log(LogLevel::kError, "audit_cut",
      {{"last_in_files", std::to_string(last.sequence())},
       {"last_written", std::to_string(marked_)},
       {"fix", "frostline audit verify"}});
  return absl::OkStatus();
}

absl::Status AuditLog::ReadBack(
    absl::FunctionRef<bool(const v1::AuditEntry&)> take) const {
  ASSIGN_OR_RETURN(const std::vector<AuditRow> rows, RowsAfter(store_, 0));
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    // Entries between were written after the backup that is the store now, and
    // are in the files.
    if (row != rows.rbegin() && row->last + 1 != below && has_files_) break;
    const std::vector<v1::AuditEntry> entries = EntriesOf(*row);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      below = entry->sequence();
      if (!take(*entry)) return absl::OkStatus();
    }
  }
  if (!has_files_) return absl::OkStatus();
  const MutexLock lock(&files_mutex_);
  return files_.ReadBack([&](const v1::AuditEntry& entry) {
    return entry.sequence() >= below || take(entry);
  });
}

}  // namespace frostline::server

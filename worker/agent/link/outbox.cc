// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/link/outbox.h"

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
#include "base/plain/file.h"
#include "base/plain/sums.h"
#include "proto/rules.h"
#include "worker/agent/file.h"

namespace frostline::agent {
absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Create(
    const std::string& path, const v1::LeaseRef& lease) {
  const int fd = open(path.c_str(),
                      O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("create", path);
  std::unique_ptr<SpoolFile> file(new SpoolFile(path, fd));
  RETURN_IF_ERROR(file->Write(kSpoolHead + EncodeLease(lease)));
  RETURN_IF_ERROR(SyncFolder(FolderOf(path)));
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

// Returns the record behind the frame at `at`, if that frame's length is right.
// This is tried before a search, since what is in the frame might look like a
// record.
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

namespace {

constexpr std::size_t kMostRecordBytes = std::size_t{256} << 10;
constexpr std::size_t kMostHeldBytes = std::size_t{512} << 10;

// Adds the report `record` to the report `last`. Returns false for anything
// else, or if they do not fit together into one.
bool Append(const SpoolRecord& record, SpoolRecord& last) {
  const auto* const more = std::get_if<v1::ReportRequest>(&record);
  auto* const report = std::get_if<v1::ReportRequest>(&last);
  if (more == nullptr || report == nullptr) return false;
  static const int most = proto::MaxItems<v1::ReportRequest>("measurements");
  if (report->measurements_size() + more->measurements_size() > most) {
    return false;
  }
  report->mutable_measurements()->MergeFrom(more->measurements());
  if (more->has_checkpoint()) {
    *report->mutable_checkpoint() = more->checkpoint();
  }
  // After a restart they may be sent one by one again: the coordinator knows a
  // repetition by its steps.
  report->set_sequence(more->sequence());
  return true;
}

// Drops the measurements of a report. Returns false if nothing is left.
bool LeaveCheckpoint(SpoolRecord& record) {
  auto* const report = std::get_if<v1::ReportRequest>(&record);
  if (report == nullptr) return true;
  report->clear_measurements();
  return report->has_checkpoint();
}

}  // namespace

bool IsReport(const SpoolRecord& record) {
  return std::holds_alternative<v1::ReportRequest>(record);
}

std::size_t BytesOf(const SpoolRecord& record) {
  return std::visit([](const auto& message) { return message.ByteSizeLong(); },
                    record);
}

bool HeldRecords::HasRoomFor(const SpoolRecord& report) const {
  return held_.empty() || bytes_ + BytesOf(report) <= kMostHeldBytes;
}

void HeldRecords::Add(const SpoolRecord& whole, std::size_t sent) {
  SpoolRecord record = whole;
  if (curve_ended_ && !LeaveCheckpoint(record)) return;
  const std::size_t bytes = BytesOf(record);
  bytes_ += bytes;
  const bool joins = held_.size() > sent &&
                     held_.back().bytes + bytes <= kMostRecordBytes &&
                     Append(record, held_.back().record);
  if (joins) {
    held_.back().bytes += bytes;
  } else {
    held_.push_back({std::move(record), bytes});
  }
}

void HeldRecords::Pop() {
  bytes_ -= held_.front().bytes;
  held_.pop_front();
}

void HeldRecords::PushFront(const SpoolRecord& record) {
  held_.push_front({record, BytesOf(record)});
  bytes_ += held_.front().bytes;
}

void HeldRecords::ReplaceFront(const SpoolRecord& record) {
  Pop();
  PushFront(record);
}

bool HeldRecords::SplitFront() {
  if (!IsReport(front())) return false;
  const auto whole = std::get<v1::ReportRequest>(front());
  if (whole.measurements_size() < 2) return false;
  Pop();
  v1::ReportRequest one = whole;
  for (int i = whole.measurements_size() - 1; i >= 0; --i) {
    one.clear_measurements();
    *one.add_measurements() = whole.measurements(i);
    PushFront(one);
    one.clear_checkpoint();  // the last one has it
  }
  return true;
}

void HeldRecords::EndCurve() {
  curve_ended_ = true;
  bytes_ = 0;
  for (const Held& one : std::exchange(held_, {})) Add(one.record, /*sent=*/0);
}

void HeldRecords::ForgetReports() {
  while (!held_.empty() && IsReport(front())) Pop();
}

namespace {

constexpr std::size_t kMostUnspooledBytes = std::size_t{4} << 20;

}  // namespace

ReportBacklog::ReportBacklog(std::string trial, std::unique_ptr<SpoolFile> file,
                             std::int64_t unread)
    : trial_(std::move(trial)), file_(std::move(file)), unread_(unread) {}

bool ReportBacklog::Spool(const SpoolRecord& record) {
  if (file_ == nullptr) return false;
  absl::Status written;
  while (written.ok() && !unspooled_.empty()) {
    written = file_->Append(unspooled_.front().record);
    if (!written.ok()) break;
    ++unread_;
    PopUnspooled();
  }
  // An ending is tried even if earlier records failed.
  if (written.ok() || !IsReport(record)) written = file_->Append(record);
  if (!written.ok()) {
    Log(LogLevel::kError, "not_spooled",
        {{"trial", trial_}, {"cause", std::string(written.message())}});
  }
  return written.ok();
}

void ReportBacklog::SkipSpooled() {
  if (file_ != nullptr) file_->SkipToEnd();
}

void ReportBacklog::Push(const v1::ReportRequest& report, bool is_spooled) {
  const std::size_t bytes = BytesOf(report);
  if (is_spooled) {
    ++unread_;
  } else if (unspooled_bytes_ + bytes <= kMostUnspooledBytes) {
    unspooled_.push_back({report, bytes});
    unspooled_bytes_ += bytes;
  } else {
    KeepCheckpoint(report);
    if (++dropped_ > 1) return;
    Log(LogLevel::kError, "reports_dropped",
        {{"trial", trial_},
         {"cause", "neither disk nor coordinator takes them"}});
  }
}

// Keeps the checkpoint of a dropped report, from which the trial may go on
// elsewhere, by adding it to the last report in memory.
void ReportBacklog::KeepCheckpoint(const v1::ReportRequest& report) {
  if (!report.has_checkpoint() || unspooled_.empty()) return;
  Unspooled& last = unspooled_.back();
  auto& kept = std::get<v1::ReportRequest>(last.record);
  *kept.mutable_checkpoint() = report.checkpoint();
  unspooled_bytes_ -= last.bytes;
  last.bytes = BytesOf(last.record);
  unspooled_bytes_ += last.bytes;
}

std::optional<SpoolRecord> ReportBacklog::TakeNext() {
  if (unread_ > 0) {
    if (auto report = ReadNext()) return report;
  }
  if (unspooled_.empty()) return std::nullopt;
  SpoolRecord report = std::move(unspooled_.front().record);
  PopUnspooled();
  return report;
}

// Returns the next report of the file. Damaged records are skipped, so there
// may be fewer than were written. Then the file is at its end, or at the
// ending, which the outbox has.
std::optional<SpoolRecord> ReportBacklog::ReadNext() {
  auto record = file_->ReadNext();
  if (record.ok() && IsReport(*record)) {
    --unread_;
    return *std::move(record);
  }
  Log(LogLevel::kError, "reports_lost",
      {{"trial", trial_},
       {"reports", absl::StrCat(unread_)},
       {"cause", record.ok() ? "the spool is damaged"
                             : DescribeError(record.status())}});
  unread_ = 0;
  return std::nullopt;
}

void ReportBacklog::PopUnspooled() {
  unspooled_bytes_ -= unspooled_.front().bytes;
  unspooled_.pop_front();
}

void ReportBacklog::Forget() {
  unread_ = 0;
  unspooled_.clear();
  unspooled_bytes_ = 0;
}

void ReportBacklog::RemoveFile() {
  if (file_ != nullptr) file_->Remove();
  file_.reset();
}

void ReportBacklog::MoveFile(const std::string& folder) {
  if (file_ != nullptr) file_->MoveTo(folder);
  file_.reset();
}

Outbox::Outbox(v1::LeaseRef lease, std::unique_ptr<SpoolFile> file,
               Wakeup* wakeup)
    : lease_(std::move(lease)),
      wakeup_(wakeup),
      backlog_(lease_.trial(), std::move(file), 0) {}

Outbox::Outbox(SpoolContent content, std::unique_ptr<SpoolFile> file)
    : lease_(std::move(content.lease)),
      wakeup_(nullptr),
      backlog_(lease_.trial(), std::move(file), content.reports),
      ending_(std::move(content.ending)) {
  const MutexLock lock(&mutex_);
  closed_ = ending_.has_value();
  Refill();
}

void Outbox::Add(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (closed_) return;
  const bool is_spooled = backlog_.Spool(record);
  if (IsReport(record)) return Queue(record, is_spooled);
  ending_ = record;
  closed_ = true;
  Refill();
}

void Outbox::Queue(const SpoolRecord& report, bool is_spooled) {
  if (backlog_.empty() && held_.HasRoomFor(report)) {
    backlog_.SkipSpooled();
    return held_.Add(report, /*sent=*/1);
  }
  backlog_.Push(std::get<v1::ReportRequest>(report), is_spooled);
}

void Outbox::Refill() {
  if (!held_.empty()) return;
  // Reports are joined until a second record begins.
  while (!backlog_.empty() && held_.size() < 2) {
    const std::optional<SpoolRecord> next = backlog_.TakeNext();
    if (next.has_value()) held_.Add(*next, /*sent=*/0);
  }
  if (!backlog_.empty() || !ending_.has_value()) return;
  held_.Add(*ending_, /*sent=*/0);
  ending_.reset();
}

void Outbox::ForgetReports() {
  held_.ForgetReports();
  backlog_.Forget();
}

std::size_t Outbox::bytes_in_memory() const {
  const MutexLock lock(&mutex_);
  return held_.bytes() + backlog_.bytes_in_memory() +
         (ending_.has_value() ? BytesOf(*ending_) : 0);
}

void Outbox::Close() {
  const MutexLock lock(&mutex_);
  closed_ = true;
  EndIfDone();
}

std::optional<SpoolRecord> Outbox::Front() const {
  const MutexLock lock(&mutex_);
  if (done_ || held_.empty()) return std::nullopt;
  return held_.front();
}

void Outbox::PopFront() {
  const MutexLock lock(&mutex_);
  if (!held_.empty()) held_.Pop();
  Refill();
  EndIfDone();
}

void Outbox::EndCurve() {
  const MutexLock lock(&mutex_);
  held_.EndCurve();
  Refill();
  EndIfDone();
}

bool Outbox::FrontIsEnding() const {
  const MutexLock lock(&mutex_);
  return !done_ && !held_.empty() && !IsReport(held_.front());
}

bool Outbox::SplitFront() {
  const MutexLock lock(&mutex_);
  return !held_.empty() && held_.SplitFront();
}

void Outbox::ReplaceFront(const SpoolRecord& record) {
  const MutexLock lock(&mutex_);
  if (!held_.empty()) held_.ReplaceFront(record);
}

void Outbox::DropReports() {
  const MutexLock lock(&mutex_);
  ForgetReports();
  Refill();
  EndIfDone();
}

bool Outbox::done() const {
  const MutexLock lock(&mutex_);
  return done_;
}

void Outbox::Abandon(const std::string& keep_in) {
  const MutexLock lock(&mutex_);
  ForgetReports();
  if (!held_.empty()) held_.Pop();  // the ending
  ending_.reset();
  closed_ = true;
  if (!keep_in.empty()) backlog_.MoveFile(keep_in);
  EndIfDone();
}

void Outbox::NoteVerdict(v1::FinishReply::Verdict verdict) {
  const MutexLock lock(&mutex_);
  verdict_ = verdict;
}

v1::FinishReply::Verdict Outbox::verdict() const {
  const MutexLock lock(&mutex_);
  return verdict_;
}

void Outbox::EndIfDone() {
  if (done_ || !closed_ || !held_.empty()) return;
  done_ = true;
  backlog_.RemoveFile();
  if (wakeup_ != nullptr) wakeup_->Ring();
}

}  // namespace frostline::agent

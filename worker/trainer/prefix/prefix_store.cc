// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/prefix_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/plain/sums.h"

namespace frostline::trainer {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "FLPREFIX";
constexpr std::uint32_t kSegmentVersion = 1;
constexpr std::size_t kHeaderBytes = 80;
constexpr std::size_t kIndexBytes = 32;  // of a row
constexpr std::size_t kFooterBytes = 24;
// The most rows of a segment. Their index would have 512 MiB; no writer makes
// one.
constexpr std::uint64_t kMostRows = 1U << 24U;

template <typename Number>
void Put(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
Number Get(const char* at) {
  Number number{};
  std::memcpy(&number, at, sizeof(number));
  return number;
}

std::string HeaderOf(const std::string& group) {
  std::string header(kMagic);
  Put(header, kSegmentVersion);
  Put(header, std::uint32_t{0});
  return header + group;
}

Fault Spoilt(const std::string& path, const std::string& what) {
  return {FaultKind::kInconsistent, path + " " + what,
          "none is needed: its rows are computed anew"};
}

}  // namespace

Expected<SegmentWriter> SegmentWriter::Create(const std::string& path,
                                              const std::string& group) {
  ASSIGN_OR_FAULT(AtomicFile file, AtomicFile::Create(path));
  SegmentWriter writer(std::move(file));
  const std::string header = HeaderOf(group);
  RETURN_IF_FAULT(writer.file_.Append(header.data(), header.size()));
  writer.at_ = header.size();
  return writer;
}

Expected<Done> SegmentWriter::Append(const RowKey& key,
                                     std::span<const std::byte> row) {
  if (auto put = file_.Append(row.data(), row.size()); !put.ok()) {
    return put;
  }
  places_.push_back({key, at_, static_cast<std::uint32_t>(row.size()),
                     Crc32c(0, row.data(), row.size())});
  at_ += row.size();
  return Done{};
}

Expected<Done> SegmentWriter::Commit() {
  std::string index;
  index.reserve(places_.size() * kIndexBytes + kFooterBytes);
  for (const RowPlace& place : places_) {
    Put(index, place.key.high);
    Put(index, place.key.low);
    Put(index, place.at);
    Put(index, place.bytes);
    Put(index, place.crc);
  }
  const std::uint32_t crc = Crc32c(0, index.data(), index.size());
  Put(index, std::uint64_t{places_.size()});
  Put(index, at_);
  Put(index, crc);
  Put(index, std::uint32_t{0});
  if (auto put = file_.Append(index.data(), index.size()); !put.ok()) {
    return put;
  }
  return file_.Commit();
}

Expected<Segment> Segment::Open(const std::string& path,
                                const std::string& group) {
  ASSIGN_OR_FAULT(SourceFile file, SourceFile::Open(path));
  Segment segment(std::move(file));
  const std::uint64_t size = segment.size();
  if (size < kHeaderBytes + kFooterBytes) return Spoilt(path, "is too short");
  std::string header(kHeaderBytes, '\0');
  std::string footer(kFooterBytes, '\0');
  auto read = segment.file_.ReadAt(0, header.data(), header.size());
  if (!read.ok()) return read.fault();
  read = segment.file_.ReadAt(size - kFooterBytes, footer.data(), kFooterBytes);
  if (!read.ok()) return read.fault();
  if (header != HeaderOf(group)) return Spoilt(path, "is another group's");
  const auto rows = Get<std::uint64_t>(footer.data());
  const auto at = Get<std::uint64_t>(footer.data() + 8);
  if (rows > kMostRows || at < kHeaderBytes || at > size ||
      size - at != rows * kIndexBytes + kFooterBytes) {
    return Spoilt(path, "has an index of another size");
  }
  std::string index(static_cast<std::size_t>(rows * kIndexBytes), '\0');
  read = segment.file_.ReadAt(at, index.data(), index.size());
  if (!read.ok()) return read.fault();
  if (Crc32c(0, index.data(), index.size()) !=
      Get<std::uint32_t>(footer.data() + 16)) {
    return Spoilt(path, "has an index with a wrong sum");
  }
  segment.rows_.reserve(static_cast<std::size_t>(rows));
  for (const char* row = index.data(); row != index.data() + index.size();
       row += kIndexBytes) {
    segment.rows_.push_back(
        {{Get<std::uint64_t>(row), Get<std::uint64_t>(row + 8)},
         Get<std::uint64_t>(row + 16),
         Get<std::uint32_t>(row + 24),
         Get<std::uint32_t>(row + 28)});
  }
  return segment;
}

Expected<Done> Segment::Read(const RowPlace& place,
                             std::span<std::byte> into) const {
  if (place.bytes != into.size()) {
    return Spoilt(file_.path(), "has a row of another length");
  }
  if (auto read = file_.ReadAt(place.at, into.data(), into.size());
      !read.ok()) {
    return read;
  }
  if (Crc32c(0, into.data(), into.size()) != place.crc) {
    return Spoilt(file_.path(), "has a row with a wrong sum");
  }
  return Done{};
}

std::optional<LockedFile> LockedFile::Try(const std::string& path,
                                          LockKind kind) {
  return Open(path, kind, LockWait::kTry);
}

std::optional<LockedFile> LockedFile::Await(const std::string& path,
                                            LockKind kind) {
  return Open(path, kind, LockWait::kAwait);
}

std::optional<LockedFile> LockedFile::Open(const std::string& path,
                                           LockKind kind, LockWait wait) {
  const int fd =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return std::nullopt;
  LockedFile file(fd);
  if (!TakeLock(fd, kind, wait)) return std::nullopt;
  return file;
}

LockedFile::~LockedFile() {
  if (fd_ >= 0) close(fd_);
}

bool LockedFile::IsAt(const std::string& path) const {
  struct stat held = {};
  struct stat named = {};
  return fstat(fd_, &held) == 0 && stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSegmentBytes = 64U << 20U;
constexpr std::string_view kEnding = ".rows";
constexpr int kTries = 100;

std::string GroupNameOf(int number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 6 - std::min<std::size_t>(6, digits.size()), '0');
  return digits + std::string(kEnding);
}

// Returns the segments in the order in which they were written, or none if
// there is no folder.
std::vector<std::string> SegmentsIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(folder, error)) {
    std::string name = each.path().filename().string();
    if (name.ends_with(kEnding)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

GroupWorth ReadWorth(int fd) {
  std::string text(256, '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  GroupWorth worth;
  if (got <= 0) return worth;
  std::istringstream stream(text.substr(0, static_cast<std::size_t>(got)));
  if (stream >> worth.seconds >> worth.rows >> worth.taken) return worth;
  return {};
}

}  // namespace

Expected<PrefixGroup> PrefixGroup::Open(const std::string& folder,
                                        const std::string& key,
                                        const std::string& about) {
  const std::string lock = folder + "/in_use";
  // A process that makes room may remove the folder between two of these calls.
  for (int i = 0; i < kTries; ++i) {
    if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) break;
    auto held = LockedFile::Await(lock, LockKind::kShared);
    if (!held || !held->IsAt(lock)) continue;
    PrefixGroup group(folder, key, *std::move(held));
    std::error_code error;
    if (!fs::exists(folder + "/about", error)) {
      std::ignore = WriteFileAtomically(folder + "/about", about);
    }
    group.Refresh();
    return group;
  }
  return Fault{FaultKind::kUnreadable, "cannot make or lock " + folder,
               "see that the folder is there, yours and has room"};
}

void PrefixGroup::Refresh() {
  for (const std::string& name : SegmentsIn(folder_)) {
    if (!seen_.insert(name).second) continue;
    Expected<Segment> segment = Segment::Open(folder_ + "/" + name, key_);
    if (!segment.ok()) continue;
    for (const RowPlace& place : segment.value().rows()) {
      places_.insert_or_assign(place.key, std::pair(segments_.size(), place));
    }
    segments_.push_back(std::move(segment).value());
  }
}

bool PrefixGroup::Read(const RowKey& key, std::span<std::byte> into) {
  const auto found = places_.find(key);
  if (found == places_.end()) return false;
  const auto& [segment, place] = found->second;
  if (segments_[segment].Read(place, into).ok()) return true;
  places_.erase(found);
  return false;
}

void PrefixGroup::Note(const GroupWorth& more) const {
  const auto file = LockedFile::Await(folder_ + "/worth", LockKind::kAlone);
  if (!file) return;
  const GroupWorth before = ReadWorth(file->fd());
  std::ostringstream text;
  text << before.seconds + more.seconds << ' ' << before.rows + more.rows << ' '
       << before.taken + more.taken << '\n';
  const std::string line = text.str();
  if (pwrite(file->fd(), line.data(), line.size(), 0) ==
      static_cast<ssize_t>(line.size())) {
    std::ignore = ftruncate(file->fd(), static_cast<off_t>(line.size()));
  }
}

GroupWorth PrefixGroup::WorthOf(const std::string& folder) {
  const auto file = LockedFile::Await(folder + "/worth", LockKind::kShared);
  return file ? ReadWorth(file->fd()) : GroupWorth();
}

std::optional<GroupFiller> GroupFiller::Try(PrefixGroup& group) {
  auto filling = LockedFile::Try(group.folder() + "/filling", LockKind::kAlone);
  if (!filling) return std::nullopt;
  GroupFiller filler(group, *std::move(filling));
  filler.Clean();
  group.Refresh();
  return filler;
}

// Returns whether the segment is damaged. One that could not be opened, for
// want of descriptors, is not.
bool GroupFiller::IsSpoilt(const std::string& path) const {
  const Expected<Segment> segment = Segment::Open(path, group_->key());
  return !segment.ok() && segment.fault().kind == FaultKind::kInconsistent;
}

// Removes damaged segments, and files that a killed process left unfinished.
// Nobody else writes here now.
void GroupFiller::Clean() {
  std::error_code error;
  for (const auto& each : fs::directory_iterator(group_->folder(), error)) {
    const std::string name = each.path().filename().string();
    const bool begun = name.find(std::string(kEnding) + ".") != name.npos;
    const bool whole = name.ends_with(kEnding);
    if (whole) last_ = std::max(last_, std::atoi(name.c_str()));
    if (begun || (whole && IsSpoilt(each.path().string()))) {
      fs::remove(each.path(), error);
    }
  }
}

Expected<Done> GroupFiller::Add(const RowKey& key,
                                std::span<const std::byte> row) {
  if (!writer_) {
    ASSIGN_OR_FAULT(
        SegmentWriter writer,
        SegmentWriter::Create(group_->folder() + "/" + GroupNameOf(++last_),
                              group_->key()));
    writer_.emplace(std::move(writer));
  }
  if (auto added = writer_->Append(key, row); !added.ok()) return added;
  return writer_->bytes() < kSegmentBytes ? Done{} : Finish();
}

Expected<Done> GroupFiller::Finish() {
  if (!writer_) return Done{};
  Expected<Done> committed = writer_->Commit();
  writer_.reset();
  if (!committed.ok()) return committed;
  group_->Refresh();
  return Done{};
}

namespace {

constexpr char kVersion[] = "/v1";
constexpr char kGone[] = ".gone.";  // in the name of a folder being removed
constexpr std::size_t kKeyDigits = 64;
constexpr std::size_t kMostAbout = 4096;
constexpr std::uint64_t kShareOfDisk = 10;  // one of so many

// Returns the size of a group's files. Others may remove them meanwhile; those
// count 0.
std::uint64_t BytesIn(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(folder, error)) {
    const std::uintmax_t size = each.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

std::uint64_t SumOf(const std::vector<StoredGroup>& groups) {
  std::uint64_t sum = 0;
  for (const StoredGroup& each : groups) sum += each.bytes;
  return sum;
}

}  // namespace

Expected<PrefixStore> PrefixStore::Open(const std::string& folder,
                                        std::uint64_t most_bytes) {
  const Fault closed = {
      FaultKind::kUnreadable, folder + " cannot hold stored activations",
      "give --prefix-dir a folder of yours that can be written"};
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string versioned = folder + kVersion;
  if (mkdir(versioned.c_str(), S_IRWXU) != 0 && errno != EEXIST) return closed;
  // Only the owner may read it, because the texts can be guessed from it.
  for (const std::string& each : {folder, versioned}) {
    if (chmod(each.c_str(), S_IRWXU) != 0) return closed;
  }
  if (access(versioned.c_str(), R_OK | W_OK | X_OK) != 0) return closed;
  if (most_bytes == 0) {
    most_bytes = fs::space(versioned, error).capacity / kShareOfDisk;
    if (error) return closed;
  }
  // Removes what a process left that was killed while removing.
  for (const auto& each : fs::directory_iterator(versioned, error)) {
    if (each.path().filename().string().find(kGone) == std::string::npos) {
      continue;
    }
    fs::remove_all(each.path(), error);
  }
  return PrefixStore(versioned, most_bytes);
}

std::optional<PrefixStore> PrefixStore::Find(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder + kVersion, error)) return std::nullopt;
  return PrefixStore(folder + kVersion, 0);
}

Expected<PrefixGroup> PrefixStore::Group(const std::string& key,
                                         const std::string& about) const {
  return PrefixGroup::Open(folder_ + "/" + key, key, about);
}

std::optional<PrefixGroup> PrefixStore::Existing(
    const std::string& key, const std::string& about) const {
  const std::string folder = folder_ + "/" + key;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return std::nullopt;
  Expected<PrefixGroup> group = PrefixGroup::Open(folder, key, about);
  if (!group.ok()) return std::nullopt;
  return std::move(group).value();
}

std::vector<StoredGroup> PrefixStore::List() const {
  std::vector<StoredGroup> groups;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(folder_, error)) {
    const std::string name = each.path().filename().string();
    if (name.size() != kKeyDigits) continue;
    const std::string folder = each.path().string();
    auto about = ReadWholeFile(folder + "/about", kMostAbout);
    groups.push_back({name, about.ok() ? std::move(about).value() : "",
                      BytesIn(each.path()), PrefixGroup::WorthOf(folder)});
  }
  std::ranges::sort(groups, {}, [](const StoredGroup& group) {
    return std::pair(group.worth.By(static_cast<double>(group.bytes)),
                     group.key);
  });
  return groups;
}

bool PrefixStore::Remove(const std::string& key) const {
  const std::string folder = folder_ + "/" + key;
  const auto alone = LockedFile::Try(folder + "/in_use", LockKind::kAlone);
  if (!alone) return false;
  // Rename it first, so that nobody opens half of it.
  const std::string away = folder + kGone + std::to_string(getpid());
  std::error_code error;
  fs::rename(folder, away, error);
  if (error) return false;
  fs::remove_all(away, error);
  return true;
}

Expected<Done> PrefixStore::MakeRoom(std::uint64_t bytes) const {
  const std::vector<StoredGroup> groups = List();
  const Fault full = {FaultKind::kTooLarge,
                      "the prefix store may hold " +
                          std::to_string(most_bytes_) + " bytes, has " +
                          std::to_string(SumOf(groups)) + " and would need " +
                          std::to_string(bytes) + " more",
                      "give --prefix-bytes more"};
  if (bytes > most_bytes_) return full;
  std::uint64_t held = SumOf(groups);
  for (const StoredGroup& each : groups) {
    if (held + bytes <= most_bytes_) break;
    if (Remove(each.key)) held -= each.bytes;
  }
  if (held + bytes <= most_bytes_) return Done{};
  return full;
}

std::uint64_t PrefixStore::Clear() const {
  std::uint64_t removed = 0;
  for (const StoredGroup& each : List()) {
    if (Remove(each.key)) removed += each.bytes;
  }
  return removed;
}

}  // namespace frostline::trainer

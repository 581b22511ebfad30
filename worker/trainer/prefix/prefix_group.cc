// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/prefix_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <tuple>

namespace frostline::trainer {
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

// In the order in which they were written. None where there is no folder.
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
  // Who makes room may have taken it away between two of these calls.
  for (int i = 0; i < kTries; ++i) {
    if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) break;
    auto held = LockedFile::Await(lock, LockedFile::Kind::kShared);
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

bool PrefixGroup::Read(const RowKey& key, std::span<float> into) {
  const auto found = places_.find(key);
  if (found == places_.end()) return false;
  const auto& [segment, place] = found->second;
  if (segments_[segment].Read(place, into).ok()) return true;
  places_.erase(found);
  return false;
}

void PrefixGroup::Note(const GroupWorth& more) const {
  const auto file =
      LockedFile::Await(folder_ + "/worth", LockedFile::Kind::kAlone);
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
  const auto file =
      LockedFile::Await(folder + "/worth", LockedFile::Kind::kShared);
  return file ? ReadWorth(file->fd()) : GroupWorth();
}

std::optional<GroupFiller> GroupFiller::Try(PrefixGroup& group) {
  auto filling =
      LockedFile::Try(group.folder() + "/filling", LockedFile::Kind::kAlone);
  if (!filling) return std::nullopt;
  GroupFiller filler(group, *std::move(filling));
  filler.Clean();
  group.Refresh();
  return filler;
}

// Not one that could not be opened for want of descriptors.
bool GroupFiller::IsSpoilt(const std::string& path) const {
  const Expected<Segment> segment = Segment::Open(path, group_->key());
  return !segment.ok() && segment.fault().kind == FaultKind::kInconsistent;
}

// Nobody else writes here now: what has another name was begun by one who was
// killed, and a spoilt segment is of no use to anybody.
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

Expected<Done> GroupFiller::Add(const RowKey& key, std::span<const float> row) {
  if (!writer_) {
    Expected<SegmentWriter> writer = SegmentWriter::Create(
        group_->folder() + "/" + GroupNameOf(++last_), group_->key());
    if (!writer.ok()) return writer.fault();
    writer_.emplace(std::move(writer).value());
  }
  if (auto added = writer_->Append(key, row); !added.ok()) return added;
  return writer_->bytes() < kSegmentBytes ? Done{} : Finish();
}

Expected<Done> GroupFiller::Finish() {
  if (!writer_) return Done{};
  const Expected<Done> committed = writer_->Commit();
  writer_.reset();
  if (!committed.ok()) return committed;
  group_->Refresh();
  return Done{};
}

}  // namespace frostline::trainer

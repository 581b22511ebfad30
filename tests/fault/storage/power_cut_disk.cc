// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storage/power_cut_disk.h"

#include <algorithm>
#include <set>
#include <utility>

namespace frostline::test {
namespace {

constexpr std::size_t kSector = 512;

void Apply(const PowerCutDisk::File::Change& change, std::string& image) {
  if (change.data.empty()) {
    image.resize(change.offset);
    return;
  }
  const std::size_t end = change.offset + change.data.size();
  if (image.size() < end) image.resize(end);
  image.replace(change.offset, change.data.size(), change.data);
}

// What is on the disk after a cut: some cuts lose all that was not synced, some
// nothing, most a part.
std::string Survivor(const PowerCutDisk::File& file, Rng& rng) {
  std::string image = file.synced;
  const std::uint64_t kept_of_8 = rng.Below(9);
  for (PowerCutDisk::File::Change change : file.unsynced) {
    if (rng.Below(8) >= kept_of_8) continue;
    if (!change.data.empty() && rng.Below(16) == 0) {  // torn
      change.data.resize(1 + rng.Below(change.data.size()));
    }
    Apply(change, image);
  }
  return image;
}

}  // namespace

void PowerCutDisk::Follow(const Plan& plan) {
  plan_ = plan;
  calls_ = 0;
  calls_of_kind_ = 0;
  failures_ = 0;
}

bool PowerCutDisk::Goes(Call call) {
  if (off_) return false;
  ++calls_;
  if (calls_ == plan_.cut_at) {
    off_ = true;
    return false;
  }
  if (call != plan_.failing || plan_.fail_at == kNever) return true;
  ++calls_of_kind_;
  const bool fails = calls_of_kind_ == plan_.fail_at ||
                     (calls_of_kind_ > plan_.fail_at && plan_.fail_for_ever);
  if (fails) ++failures_;
  return !fails;
}

std::int64_t PowerCutDisk::Size() const {
  std::size_t size = 0;
  for (const auto& [name, file] : names_) size += file->seen.size();
  return static_cast<std::int64_t>(size);
}

PowerCutDisk::FilePointer PowerCutDisk::Find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

PowerCutDisk::FilePointer PowerCutDisk::Create(const std::string& name,
                                               bool durable) {
  auto file = std::make_shared<File>();
  names_[name] = file;
  if (durable) synced_names_[name] = file;
  return file;
}

PowerCutDisk::Result PowerCutDisk::Delete(const std::string& name,
                                          bool durable) {
  if (!Goes(Call::kDelete)) return Result::kFailed;
  names_.erase(name);
  if (durable) synced_names_.erase(name);
  return Result::kOk;
}

// A write that fails has done half its work. One in which the power goes may
// have done any part of it.
PowerCutDisk::Result PowerCutDisk::Write(File& file, std::size_t offset,
                                         std::string data) {
  if (off_) return Result::kFailed;
  const std::size_t grows =
      std::max(file.seen.size(), offset + data.size()) - file.seen.size();
  if (Size() + static_cast<std::int64_t>(grows) > plan_.capacity) {
    return Result::kFull;
  }
  const bool goes = Goes(Call::kWrite);
  if (!goes && !off_) data.resize(data.size() / 2);
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t size =
        std::min(data.size() - at, kSector - (offset + at) % kSector);
    file.unsynced.push_back({offset + at, data.substr(at, size)});
    at += size;
  }
  if (!off_ && !data.empty()) Apply({offset, std::move(data)}, file.seen);
  return goes ? Result::kOk : Result::kFailed;
}

PowerCutDisk::Result PowerCutDisk::Truncate(File& file, std::size_t size) {
  const bool was_on = !off_;
  const bool goes = Goes(Call::kTruncate);
  if (goes || (was_on && off_)) file.unsynced.push_back({size, ""});
  if (goes) file.seen.resize(size);
  return goes ? Result::kOk : Result::kFailed;
}

PowerCutDisk::Result PowerCutDisk::Sync(const std::string& name, File& file) {
  if (off_) return Result::kFailed;
  const bool goes = Goes(Call::kSync);
  if (plan_.ignore_log_syncs && file.is_log) {
    return goes ? Result::kOk : Result::kFailed;
  }
  if (goes) {
    for (const File::Change& change : file.unsynced) Apply(change, file.synced);
    // SQLite syncs the folder with the first sync of a file it has made.
    const auto known = synced_names_.find(name);
    if (known == synced_names_.end() || known->second.get() != &file) {
      synced_names_ = names_;
    }
  }
  if (!off_) file.unsynced.clear();
  return goes ? Result::kOk : Result::kFailed;
}

void PowerCutDisk::SyncNames() {
  if (!off_) synced_names_ = names_;
}

void PowerCutDisk::Restart(Rng& rng) {
  std::set<std::string> names;
  for (const auto& [name, file] : names_) names.insert(name);
  for (const auto& [name, file] : synced_names_) names.insert(name);
  std::map<std::string, FilePointer> found;
  for (const std::string& name : names) {
    const auto seen = names_.find(name);
    const auto synced = synced_names_.find(name);
    const bool as_seen = rng.Below(2) == 0;
    const auto& chosen = as_seen ? seen : synced;
    if (chosen == (as_seen ? names_.end() : synced_names_.end())) continue;
    auto file = std::make_shared<File>();
    file->synced = file->seen = Survivor(*chosen->second, rng);
    file->is_log = chosen->second->is_log;
    found[name] = file;
  }
  names_ = synced_names_ = found;
  off_ = false;
  Follow(Plan());
}

PowerCutDisk PowerCutDisk::Clone() const {
  PowerCutDisk copy;
  for (const auto& [name, file] : names_) {
    copy.names_[name] = std::make_shared<File>(*file);
  }
  copy.synced_names_ = copy.names_;
  return copy;
}

}  // namespace frostline::test

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/prefix_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace frostline::trainer {
namespace {

namespace fs = std::filesystem;

constexpr char kVersion[] = "/v1";
constexpr char kGone[] = ".gone.";  // in the name of a folder being removed
constexpr std::size_t kKeyDigits = 64;
constexpr std::size_t kMostAbout = 4096;
constexpr std::uint64_t kShareOfDisk = 10;  // one of so many

std::uint64_t BytesIn(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(folder, error)) {
    const std::uintmax_t size = each.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

// Others may remove it meanwhile, and then it has none.
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
  // The texts could be told from what is in it.
  for (const std::string& each : {folder, versioned}) {
    if (chmod(each.c_str(), S_IRWXU) != 0) return closed;
  }
  if (access(versioned.c_str(), R_OK | W_OK | X_OK) != 0) return closed;
  if (most_bytes == 0) {
    most_bytes = fs::space(versioned, error).capacity / kShareOfDisk;
    if (error) return closed;
  }
  // What one left that was killed while it removed.
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
  const auto alone =
      LockedFile::Try(folder + "/in_use", LockedFile::Kind::kAlone);
  if (!alone) return false;
  // First out of the way, so that nobody opens half of it.
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

// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storage/power_cut_disk.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace frostline::test {

// The locks and the shared memory of one database among the connections of one
// thread: what SQLite expects of a file system, and nothing else.

using Holder = const void*;  // a connection's file

// SQLITE_LOCK_NONE to SQLITE_LOCK_EXCLUSIVE, for each holder.
class FileLocks {
 public:
  int Lock(Holder holder, int level) {
    for (const auto& [other, held] : held_) {
      if (other == holder) continue;
      if (held >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
      if (held >= SQLITE_LOCK_RESERVED && level >= SQLITE_LOCK_RESERVED) {
        return SQLITE_BUSY;
      }
      if (held >= SQLITE_LOCK_SHARED && level == SQLITE_LOCK_EXCLUSIVE) {
        return SQLITE_BUSY;
      }
    }
    held_[holder] = level;
    return SQLITE_OK;
  }
  void Unlock(Holder holder, int level) {
    held_[holder] = level;
    if (level == SQLITE_LOCK_NONE) held_.erase(holder);
  }
  bool IsReserved() const {
    for (const auto& [holder, held] : held_) {
      if (held >= SQLITE_LOCK_RESERVED) return true;
    }
    return false;
  }

 private:
  std::map<Holder, int> held_;
};

class SharedMemory {
 public:
  void* Map(Holder holder, std::size_t region, std::size_t size, bool extend) {
    users_[holder] = true;
    if (region >= regions_.size() && !extend) return nullptr;
    while (region >= regions_.size()) {
      regions_.push_back(std::make_unique<char[]>(size));  // zeroed
    }
    return regions_[region].get();
  }
  // Gone with the last user, as after a restart.
  void Unmap(Holder holder) {
    users_.erase(holder);
    for (auto& lock : locks_) lock.erase(holder);
    if (users_.empty()) regions_.clear();
  }
  int Lock(Holder holder, int first, int count, int flags) {
    const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    for (int i = first; i < first + count; ++i) {
      auto& lock = locks_[static_cast<std::size_t>(i)];
      if ((flags & SQLITE_SHM_UNLOCK) != 0) {
        lock.erase(holder);
        continue;
      }
      for (const auto& [other, theirs] : lock) {
        if (other != holder && (exclusive || theirs)) return SQLITE_BUSY;
      }
    }
    if ((flags & SQLITE_SHM_UNLOCK) != 0) return SQLITE_OK;
    for (int i = first; i < first + count; ++i) {
      locks_[static_cast<std::size_t>(i)][holder] = exclusive;
    }
    return SQLITE_OK;
  }

 private:
  std::map<Holder, bool> users_;
  std::vector<std::unique_ptr<char[]>> regions_;
  std::array<std::map<Holder, bool>, SQLITE_SHM_NLOCK> locks_;
};

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

namespace {

// SQLite's table of calls, and nothing that is worth testing by itself.

constexpr int kSectorSize = 4096;  // as SQLite's own says on Linux

struct Shared {
  FileLocks locks;
  SharedMemory memory;
};

// For fsync() below.
PowerCutDisk* powered = nullptr;

// What a sqlite3_file of ours is.
struct OpenFile {
  sqlite3_file base;
  PowerCutDisk* disk;
  std::string name;
  PowerCutDisk::FilePointer file;
  Shared* shared;
};

struct World {
  PowerCutDisk* disk;
  std::map<std::string, Shared> shared;
};

OpenFile& Of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }

int CodeOf(PowerCutDisk::Result result, int failed) {
  if (result == PowerCutDisk::Result::kFull) return SQLITE_FULL;
  return result == PowerCutDisk::Result::kOk ? SQLITE_OK : failed;
}

int Close(sqlite3_file* file) {
  Of(file).shared->locks.Unlock(file, SQLITE_LOCK_NONE);
  Of(file).~OpenFile();
  return SQLITE_OK;
}

int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  const std::string& seen = Of(file).file->seen;
  const auto from = static_cast<std::size_t>(offset);
  const auto wanted = static_cast<std::size_t>(size);
  const std::size_t there =
      from < seen.size() ? std::min(wanted, seen.size() - from) : 0;
  std::memset(to, 0, wanted);
  if (there > 0) std::memcpy(to, seen.data() + from, there);
  return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int Write(sqlite3_file* file, const void* from, int size,
          sqlite3_int64 offset) {
  std::string data(static_cast<const char*>(from),
                   static_cast<std::size_t>(size));
  return CodeOf(
      Of(file).disk->Write(*Of(file).file, static_cast<std::size_t>(offset),
                           std::move(data)),
      SQLITE_IOERR_WRITE);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return CodeOf(
      Of(file).disk->Truncate(*Of(file).file, static_cast<std::size_t>(size)),
      SQLITE_IOERR_TRUNCATE);
}

int Sync(sqlite3_file* file, int) {
  return CodeOf(Of(file).disk->Sync(Of(file).name, *Of(file).file),
                SQLITE_IOERR_FSYNC);
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(Of(file).file->seen.size());
  return SQLITE_OK;
}

int Lock(sqlite3_file* file, int level) {
  return Of(file).shared->locks.Lock(file, level);
}
int Unlock(sqlite3_file* file, int level) {
  Of(file).shared->locks.Unlock(file, level);
  return SQLITE_OK;
}
int CheckReservedLock(sqlite3_file* file, int* reserved) {
  *reserved = Of(file).shared->locks.IsReserved() ? 1 : 0;
  return SQLITE_OK;
}

int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SectorSize(sqlite3_file*) { return kSectorSize; }
int DeviceCharacteristics(sqlite3_file*) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

int ShmMap(sqlite3_file* file, int region, int size, int extend,
           void volatile** memory) {
  *memory =
      Of(file).shared->memory.Map(file, static_cast<std::size_t>(region),
                                  static_cast<std::size_t>(size), extend != 0);
  return SQLITE_OK;
}
int ShmLock(sqlite3_file* file, int first, int count, int flags) {
  return Of(file).shared->memory.Lock(file, first, count, flags);
}
void ShmBarrier(sqlite3_file*) {}
int ShmUnmap(sqlite3_file* file, int) {
  Of(file).shared->memory.Unmap(file);
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {2,
                                         Close,
                                         Read,
                                         Write,
                                         Truncate,
                                         Sync,
                                         FileSize,
                                         Lock,
                                         Unlock,
                                         CheckReservedLock,
                                         FileControl,
                                         SectorSize,
                                         DeviceCharacteristics,
                                         ShmMap,
                                         ShmLock,
                                         ShmBarrier,
                                         ShmUnmap,
                                         nullptr,
                                         nullptr};

World& WorldOf(sqlite3_vfs* vfs) { return *static_cast<World*>(vfs->pAppData); }

// A database's file is there already: the store makes it itself.
int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
         int* flags_out) {
  file->pMethods = nullptr;
  if (name == nullptr) return SQLITE_CANTOPEN;
  World& world = WorldOf(vfs);
  PowerCutDisk::FilePointer found = world.disk->Find(name);
  const bool main = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  if (found == nullptr && !main && (flags & SQLITE_OPEN_CREATE) == 0) {
    return SQLITE_CANTOPEN;
  }
  if (found == nullptr) found = world.disk->Create(name, main);
  found->is_log = (flags & SQLITE_OPEN_WAL) != 0;
  new (file) OpenFile{sqlite3_file{&kMethods}, world.disk, name, found,
                      &world.shared[name]};
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  PowerCutDisk& disk = *WorldOf(vfs).disk;
  if (disk.Find(name) == nullptr) return SQLITE_IOERR_DELETE_NOENT;
  return CodeOf(disk.Delete(name, sync_folder != 0), SQLITE_IOERR_DELETE);
}

// An empty file counts as none, as it does for SQLite's own.
int Access(sqlite3_vfs* vfs, const char* name, int, int* is_there) {
  const PowerCutDisk::FilePointer file = WorldOf(vfs).disk->Find(name);
  *is_there = file != nullptr && !file->seen.empty() ? 1 : 0;
  return SQLITE_OK;
}

}  // namespace

struct PowerCutVfs::Registration {
  World world;
  sqlite3_vfs* real;
  sqlite3_vfs vfs;
};

PowerCutVfs::PowerCutVfs() : registration_(new Registration) {
  sqlite3_vfs* const real = sqlite3_vfs_find(nullptr);
  registration_->world.disk = &disk_;
  registration_->real = real;
  registration_->vfs = *real;  // time, chance and the shape of names
  sqlite3_vfs& vfs = registration_->vfs;
  vfs.zName = "power-cut";
  vfs.szOsFile = sizeof(OpenFile);
  vfs.pAppData = &registration_->world;
  vfs.xOpen = Open;
  vfs.xDelete = Delete;
  vfs.xAccess = Access;
  sqlite3_vfs_register(&vfs, 1);
  powered = &disk_;
}

PowerCutVfs::~PowerCutVfs() {
  powered = nullptr;
  sqlite3_vfs_unregister(&registration_->vfs);
  sqlite3_vfs_register(registration_->real, 1);
}

}  // namespace frostline::test

// The store syncs its folder itself. This one stands before the C library's, so
// that the disk hears of it.
extern "C" int fsync(int descriptor) {
  struct stat facts;
  const bool is_folder =
      fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode);
  if (is_folder && frostline::test::powered != nullptr) {
    frostline::test::powered->SyncNames();
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

// SPDX-License-Identifier: Apache-2.0
//
// SQLite's table of calls, and nothing that is worth testing by itself.
#include "tests/fault/storage/power_cut_vfs.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <utility>

#include "tests/fault/storage/locks.h"

namespace frostline::test {
namespace {

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

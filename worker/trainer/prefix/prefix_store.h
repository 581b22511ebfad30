// SPDX-License-Identifier: Apache-2.0
//
// File: prefix_store.h
//
// Keeps activations of frozen layers for all trials, studies and trainers of a
// node. Only its owner may read the folder, because the texts can be guessed
// from the activations.
//
//   DIR/v1/GROUP/   a group
//
// It never holds more bytes than it was told. The groups that saved the fewest
// seconds per byte go first, but none that anybody uses.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_STORE_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_STORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/plain/descriptor.h"
#include "base/plain/file.h"
#include "base/plain/result.h"
#include "worker/trainer/data/token_store.h"

namespace frostline::trainer {

// A file of rows that were computed once. Little-endian, version 1:
//
//   "FLPREFIX", u32 version, u32 0, the group's 64 digits          80 bytes
//   rows: numbers of 4 or 2 bytes, one row behind the other, unpadded
//   index, a row each: key (2 x u64), u64 at, u32 bytes, u32 crc   32 bytes
//   u64 rows, u64 at of the index, u32 crc of the index, u32 0     24 bytes
//
// Files appear whole or not at all, and never change. Each time a row is read
// it is copied and then compared with its CRC32C, so that a damaged file never
// gives a wrong number.

// The place of a row in a segment.
struct RowPlace {
  RowKey key;
  std::uint64_t at = 0;  // in the file
  std::uint32_t bytes = 0;
  std::uint32_t crc = 0;
};

// A writer of one segment. One thread uses it. Unless Commit succeeds, nothing
// remains.
class SegmentWriter {
 public:
  // `group` has 64 digits. Returns kUnreadable if the folder takes no file.
  static Expected<SegmentWriter> Create(const std::string& path,
                                        const std::string& group);

  Expected<Done> Append(const RowKey& key, std::span<const std::byte> row);
  // Returns the bytes of the rows so far.
  std::uint64_t bytes() const { return at_; }
  // Completes the file. It is the last call.
  Expected<Done> Commit();

 private:
  explicit SegmentWriter(AtomicFile file) : file_(std::move(file)) {}

  AtomicFile file_;
  std::uint64_t at_ = 0;
  std::vector<RowPlace> places_;
};

// A segment that is open for reading. Any thread may read.
class Segment {
 public:
  // Returns kUnreadable, or kInconsistent if no writer of this version and
  // group made the file.
  static Expected<Segment> Open(const std::string& path,
                                const std::string& group);

  const std::vector<RowPlace>& rows() const { return rows_; }
  std::uint64_t size() const { return file_.size(); }

  // Fills all of `into`, which is as long as the row. Returns kInconsistent if
  // the file is damaged; then throw `into` away.
  Expected<Done> Read(const RowPlace& place, std::span<std::byte> into) const;

 private:
  explicit Segment(SourceFile file) : file_(std::move(file)) {}

  SourceFile file_;
  std::vector<RowPlace> rows_;
};

// A lock between processes of one node, which ends with its owner, however
// that ends (base/plain/descriptor.h).
class LockedFile {
 public:
  // Takes the lock, and makes the file if it is missing. Returns nothing if
  // others hold it, or if it cannot be opened.
  static std::optional<LockedFile> Try(const std::string& path, LockKind kind);
  // Waits for the lock. Returns nothing if the file cannot be opened.
  static std::optional<LockedFile> Await(const std::string& path,
                                         LockKind kind);
  ~LockedFile();
  LockedFile(LockedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LockedFile& operator=(LockedFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  // Returns whether `path` still names the file that is held.
  bool IsAt(const std::string& path) const;
  int fd() const { return fd_; }

 private:
  explicit LockedFile(int fd) : fd_(fd) {}
  static std::optional<LockedFile> Open(const std::string& path, LockKind kind,
                                        LockWait wait);

  int fd_;
};

// The stored rows of one group: what the same weights gave at the same
// boundary, computed in the same way (boundary_maker.h). A folder of files:
//
//   000001.rows ..  segments
//   filling         locked by the process that computes missing rows
//   in_use          locked by all readers, so that nobody removes the group
//   worth           seconds that its rows took, their number, rows taken since
//   about           what it is, in words for people

// What the rows of a group took to compute, and how often they were taken.
struct GroupWorth {
  double seconds = 0.0;
  double rows = 0.0;  // computed in these seconds
  double taken = 0.0;

  // Returns the seconds that a stored byte has saved so far.
  double By(double bytes) const {
    return rows > 0.0 && bytes > 0.0 ? seconds / rows * taken / bytes : 0.0;
  }
};

// A group that is open for reading. One thread uses it; any number of processes
// may have the same group open.
class PrefixGroup {
 public:
  // Opens the group, and makes its folder if it is missing. Returns kUnreadable
  // if that fails.
  static Expected<PrefixGroup> Open(const std::string& folder,
                                    const std::string& key,
                                    const std::string& about);

  // Opens the segments that came since, and skips damaged ones.
  void Refresh();
  bool Has(const RowKey& key) const { return places_.contains(key); }
  std::size_t size() const { return places_.size(); }

  // Fills all of `into`. Returns false if the row is not there, or if it is
  // damaged; then the group forgets it.
  bool Read(const RowKey& key, std::span<std::byte> into);

  // Adds to the group's worth. A failure has no other effect.
  void Note(const GroupWorth& more) const;
  static GroupWorth WorthOf(const std::string& folder);

  const std::string& folder() const { return folder_; }
  const std::string& key() const { return key_; }

 private:
  PrefixGroup(std::string folder, std::string key, LockedFile in_use)
      : folder_(std::move(folder)),
        key_(std::move(key)),
        in_use_(std::move(in_use)) {}

  std::string folder_;
  std::string key_;
  LockedFile in_use_;
  std::set<std::string> seen_;  // names of segments
  std::vector<Segment> segments_;
  // If a row has several places, the newest counts: it replaces a damaged one.
  std::unordered_map<RowKey, std::pair<std::size_t, RowPlace>, RowKeyHash>
      places_;
};

// The right to add rows to a group. While it lives, nobody else can. One thread
// uses it.
class GroupFiller {
 public:
  // Returns nothing while somebody else fills the group. Removes what a killed
  // process left.
  static std::optional<GroupFiller> Try(PrefixGroup& group);

  // Adds a row. It can be read once its segment is full, or after Finish().
  Expected<Done> Add(const RowKey& key, std::span<const std::byte> row);
  Expected<Done> Finish();

 private:
  GroupFiller(PrefixGroup& group, LockedFile filling)
      : group_(&group), filling_(std::move(filling)) {}
  void Clean();
  bool IsSpoilt(const std::string& path) const;

  PrefixGroup* group_;
  LockedFile filling_;
  int last_ = 0;  // number of the newest segment
  std::optional<SegmentWriter> writer_;
};

// A group as List() shows it.
struct StoredGroup {
  std::string key;
  std::string about;
  std::uint64_t bytes = 0;
  GroupWorth worth;
};

// The folder with all groups. Any number of processes may use it. Copies of
// this object are the same store.
class PrefixStore {
 public:
  // `most_bytes` 0 means a tenth of the file system. Returns kUnreadable if the
  // folder cannot be made, written, or closed to others.
  static Expected<PrefixStore> Open(const std::string& folder,
                                    std::uint64_t most_bytes);

  // Returns nothing if there is no store, and makes none.
  static std::optional<PrefixStore> Find(const std::string& folder);

  // Opens a group, and makes it if it is new. `about` describes it for people.
  Expected<PrefixGroup> Group(const std::string& key,
                              const std::string& about) const;

  // Returns nothing if there is no such group, and makes none.
  std::optional<PrefixGroup> Existing(const std::string& key,
                                      const std::string& about) const;

  // Removes groups until `bytes` more fit. Returns kTooLarge if they cannot.
  // Removes nothing if `bytes` is more than the whole store may hold.
  Expected<Done> MakeRoom(std::uint64_t bytes) const;

  // Returns all groups, the one of least worth first.
  std::vector<StoredGroup> List() const;
  // Removes all groups that nobody uses, and returns their bytes.
  std::uint64_t Clear() const;

  std::uint64_t most_bytes() const { return most_bytes_; }
  const std::string& folder() const { return folder_; }

 private:
  PrefixStore(std::string folder, std::uint64_t most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  // Removes a group. Returns false if somebody uses it.
  bool Remove(const std::string& key) const;

  std::string folder_;  // with the version
  std::uint64_t most_bytes_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_STORE_H_

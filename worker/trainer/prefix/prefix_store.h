// SPDX-License-Identifier: Apache-2.0
//
// File: prefix_store.h
//
// Keeps activations of frozen prefixes for all trials, studies and trainers of
// a node, in a folder that only its owner may read: they tell the texts that
// they were computed from.
//
//   DIR/v1/GROUP/   a group
//
// It never holds more bytes than it was told: groups go that saved the fewest
// seconds by byte, but none that anybody uses.
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

#include "base/plain/file.h"
#include "base/plain/result.h"
#include "worker/trainer/data/token_store.h"

namespace frostline::trainer {

// A file of rows that were computed once. Little-endian, version 1:
//
//   "FLPREFIX", u32 version, u32 0, the group's 64 digits          80 bytes
//   rows: fp32 numbers, one row behind the other, without padding
//   index, a row each: key (2 x u64), u64 at, u32 bytes, u32 crc   32 bytes
//   u64 rows, u64 at of the index, u32 crc of the index, u32 0     24 bytes
//
// Files appear whole or not at all, and never change. A row is compared with
// its CRC32C each time it is read, after it was copied: whatever becomes of the
// file, a wrong number is never handed out.

struct RowPlace {
  RowKey key;
  std::uint64_t at = 0;  // in the file
  std::uint32_t bytes = 0;
  std::uint32_t crc = 0;
};

// Writes one segment. One thread uses it. Unless Commit succeeds, nothing
// remains.
class SegmentWriter {
 public:
  // `group` has 64 digits. Returns kUnreadable for a folder that takes no file.
  static Expected<SegmentWriter> Create(const std::string& path,
                                        const std::string& group);

  Expected<Done> Append(const RowKey& key, std::span<const float> row);
  // Returns the bytes of the rows so far.
  std::uint64_t bytes() const { return at_; }
  // It is the last call.
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
  // Returns kUnreadable, or kInconsistent for what no writer of this version
  // and group has left.
  static Expected<Segment> Open(const std::string& path,
                                const std::string& group);

  const std::vector<RowPlace>& rows() const { return rows_; }
  std::uint64_t size() const { return file_.size(); }

  // Fills all of `into`, which is as long as the row. Returns kInconsistent
  // when the file is not what was written; `into` is to be thrown away then.
  Expected<Done> Read(const RowPlace& place, std::span<float> into) const;

 private:
  explicit Segment(SourceFile file) : file_(std::move(file)) {}

  SourceFile file_;
  std::vector<RowPlace> rows_;
};

// A lock between processes of one node, as flock(2) has it: it ends with its
// owner, however that ends.
class LockedFile {
 public:
  enum class Kind { kShared, kAlone };

  // Makes the file where it lacks. Returns nothing when others hold it, or it
  // cannot be opened.
  static std::optional<LockedFile> Try(const std::string& path, Kind kind);
  // Waits. Returns nothing when it cannot be opened.
  static std::optional<LockedFile> Await(const std::string& path, Kind kind);
  ~LockedFile();
  LockedFile(LockedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LockedFile& operator=(LockedFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  // Whether `path` still names the file that is held.
  bool IsAt(const std::string& path) const;
  int fd() const { return fd_; }

 private:
  explicit LockedFile(int fd) : fd_(fd) {}
  static std::optional<LockedFile> Open(const std::string& path, int how);

  int fd_;
};

// The stored rows of one group: what the same weights gave at the same
// boundary, computed in the same way (boundary_maker.h). A folder of files:
//
//   000001.rows ..  segments
//   filling         locked by who computes rows that lack
//   in_use          locked by all who read, so that nobody removes it
//   worth           seconds that its rows took, their number, rows taken since
//   about           what it is, in words for people

struct GroupWorth {
  double seconds = 0.0;
  double rows = 0.0;  // that they computed
  double taken = 0.0;

  // Seconds that a stored byte has saved so far.
  double By(double bytes) const {
    return rows > 0.0 && bytes > 0.0 ? seconds / rows * taken / bytes : 0.0;
  }
};

// A group that is open for reading. One thread uses it; any number of processes
// may have the same group open.
class PrefixGroup {
 public:
  // Makes the folder where it lacks. Returns kUnreadable when it cannot be had.
  static Expected<PrefixGroup> Open(const std::string& folder,
                                    const std::string& key,
                                    const std::string& about);

  // Takes up the segments that came since. Those that are spoilt are passed
  // over.
  void Refresh();
  bool Has(const RowKey& key) const { return places_.contains(key); }
  std::size_t size() const { return places_.size(); }

  // Fills all of `into`. False: the row is not there, or was spoilt; then it is
  // not there any more.
  bool Read(const RowKey& key, std::span<float> into);

  // Adds to what `worth` says; failing at that changes nothing else.
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
  // The newest of a row counts: it replaces one that was spoilt.
  std::unordered_map<RowKey, std::pair<std::size_t, RowPlace>, RowKeyHash>
      places_;
};

// Adds rows to a group. While it lives, nobody else can. One thread uses it.
class GroupFiller {
 public:
  // Returns nothing while somebody else fills. Removes what one left that was
  // killed.
  static std::optional<GroupFiller> Try(PrefixGroup& group);

  // Rows can be read once a segment is full, or Finish was called.
  Expected<Done> Add(const RowKey& key, std::span<const float> row);
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

struct StoredGroup {
  std::string key;
  std::string about;
  std::uint64_t bytes = 0;
  GroupWorth worth;
};

// The folder with all groups. Any number of processes use one folder; copies
// are the same store.
class PrefixStore {
 public:
  // `most_bytes` 0 means a tenth of the file system. Returns kUnreadable for a
  // folder that cannot be made, written or closed to others.
  static Expected<PrefixStore> Open(const std::string& folder,
                                    std::uint64_t most_bytes);

  // Makes nothing: returns nothing where no store is.
  static std::optional<PrefixStore> Find(const std::string& folder);

  // `about` says in words what it is, where it is new.
  Expected<PrefixGroup> Group(const std::string& key,
                              const std::string& about) const;

  // Makes nothing: returns nothing where there is none.
  std::optional<PrefixGroup> Existing(const std::string& key,
                                      const std::string& about) const;

  // Removes groups until `bytes` more fit. Returns kTooLarge where they do not
  // even then; more than the whole store removes nothing.
  Expected<Done> MakeRoom(std::uint64_t bytes) const;

  // The least worth first.
  std::vector<StoredGroup> List() const;
  // Returns the bytes of what it removed: all that nobody uses.
  std::uint64_t Clear() const;

  std::uint64_t most_bytes() const { return most_bytes_; }
  const std::string& folder() const { return folder_; }

 private:
  PrefixStore(std::string folder, std::uint64_t most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  // False: somebody uses it.
  bool Remove(const std::string& key) const;

  std::string folder_;  // with the version
  std::uint64_t most_bytes_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_STORE_H_

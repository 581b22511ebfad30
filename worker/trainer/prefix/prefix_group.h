// SPDX-License-Identifier: Apache-2.0
//
// File: prefix_group.h
//
// The stored rows of one group: what the same weights gave at the same
// boundary, computed in the same way (group_key.h). A folder of files:
//
//   000001.rows ..  segments (segment.h)
//   filling         locked by who computes rows that lack
//   in_use          locked by all who read, so that nobody removes it
//   worth           seconds that its rows took, their number, rows taken since
//   about           what it is, in words for people
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_GROUP_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/row_key.h"
#include "worker/trainer/prefix/locked_file.h"
#include "worker/trainer/prefix/segment.h"

namespace frostline::trainer {

struct GroupWorth {
  double seconds = 0.0;
  double rows = 0.0;  // that they computed
  double taken = 0.0;

  // Seconds that a stored byte has saved so far.
  double By(double bytes) const {
    return rows > 0.0 && bytes > 0.0 ? seconds / rows * taken / bytes : 0.0;
  }
};

// One thread uses it; any number of processes may have the same.
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

// While it lives, nobody else adds rows to the group. One thread uses it.
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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_GROUP_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: prefix_store.h
//
// Keeps activations of frozen prefixes for all trials, studies and trainers of
// a node, in a folder that only its owner may read: they tell the texts that
// they were computed from.
//
//   DIR/v1/GROUP/   a group (prefix_group.h)
//
// It never holds more bytes than it was told: groups go that saved the fewest
// seconds by byte, but none that anybody uses.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_STORE_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_PREFIX_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/prefix/prefix_group.h"

namespace frostline::trainer {

struct StoredGroup {
  std::string key;
  std::string about;
  std::uint64_t bytes = 0;
  GroupWorth worth;
};

// Any number of processes use one folder; copies are the same store.
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

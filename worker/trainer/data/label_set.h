// SPDX-License-Identifier: Apache-2.0
//
// File: label_set.h
//
// Holds the classes of a task, in the order of the model's outputs.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_LABEL_SET_H_
#define FROSTLINE_WORKER_TRAINER_DATA_LABEL_SET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

class LabelSet {
 public:
  // Returns kInconsistent when one is there twice, kTooLarge for too many.
  static Expected<LabelSet> FromList(const std::vector<std::string>& names);

  std::optional<std::int32_t> Find(std::string_view name) const;
  const std::vector<std::string>& names() const { return names_; }
  std::size_t size() const { return names_.size(); }

  // A new name becomes the last one.
  std::int32_t FindOrAdd(std::string_view name);
  // Sorts as numbers where all names are, else byte by byte, and returns the
  // new id of each old one.
  std::vector<std::int32_t> Sort();

  friend bool operator==(const LabelSet& a, const LabelSet& b) {
    return a.names_ == b.names_;
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t, std::less<>> ids_;
};

// Names the first 20, then says "and 9980 more".
std::string ListOfLabels(const LabelSet& labels);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_LABEL_SET_H_

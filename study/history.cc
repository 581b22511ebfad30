// SPDX-License-Identifier: Apache-2.0
#include "study/history.h"

namespace frostline {

void History::Put(Observation observation) {
  const auto number = static_cast<std::size_t>(observation.number);
  if (number >= index_of_number_.size()) {
    index_of_number_.resize(number + 1, -1);
  }
  std::int32_t& index = index_of_number_[number];
  if (index < 0) {
    index = static_cast<std::int32_t>(trials_.size());
    trials_.push_back(std::move(observation));
  } else {
    trials_[static_cast<std::size_t>(index)] = std::move(observation);
  }
  changes_.push_back(static_cast<std::uint32_t>(index));
}

const Observation* History::Find(std::int64_t number) const {
  if (number < 0 ||
      static_cast<std::size_t>(number) >= index_of_number_.size()) {
    return nullptr;
  }
  const std::int32_t index = index_of_number_[static_cast<std::size_t>(number)];
  return index < 0 ? nullptr : &trials_[static_cast<std::size_t>(index)];
}

}  // namespace frostline

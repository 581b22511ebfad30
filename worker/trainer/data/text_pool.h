// SPDX-License-Identifier: Apache-2.0
//
// File: text_pool.h
//
// Keeps texts, many in one allocation, for as long as it lives.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_TEXT_POOL_H_
#define FROSTLINE_WORKER_TRAINER_DATA_TEXT_POOL_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace frostline::trainer {

// Moving the pool leaves the texts where they are.
class TextPool {
 public:
  std::string_view Add(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > room_) {
      room_ = std::max(text.size(), kBlockBytes);
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(room_));
      next_ = blocks_.back().get();
    }
    char* const at = next_;
    std::copy(text.begin(), text.end(), at);
    next_ += text.size();
    room_ -= text.size();
    return {at, text.size()};
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_TEXT_POOL_H_

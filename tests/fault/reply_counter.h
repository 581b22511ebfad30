// SPDX-License-Identifier: Apache-2.0
//
// File: reply_counter.h
//
// Counts the replies in the bytes that a gRPC server sends: HTTP/2 streams that
// have had a HEADERS frame. It reads frame headers alone.
#ifndef FROSTLINE_TESTS_FAULT_REPLY_COUNTER_H_
#define FROSTLINE_TESTS_FAULT_REPLY_COUNTER_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

namespace frostline::test {

class ReplyCounter {
 public:
  // The next bytes, cut anywhere.
  void Take(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      if (skip_ > 0) {
        const std::size_t part = std::min(skip_, bytes.size() - at);
        skip_ -= part;
        at += part;
        continue;
      }
      header_ += bytes[at++];
      if (header_.size() == kHeaderBytes) EndHeader();
    }
  }

  std::size_t count() const { return streams_.size(); }

 private:
  static constexpr std::size_t kHeaderBytes = 9;
  static constexpr std::size_t kHeadersFrame = 1;

  std::size_t Number(std::size_t from, std::size_t bytes) const {
    std::size_t number = 0;
    for (std::size_t i = from; i < from + bytes; ++i) {
      number = number * 256 + static_cast<unsigned char>(header_[i]);
    }
    return number;
  }

  void EndHeader() {
    skip_ = Number(0, 3);
    if (Number(3, 1) == kHeadersFrame) streams_.insert(Number(5, 4));
    header_.clear();
  }

  std::string header_;
  std::size_t skip_ = 0;
  std::set<std::size_t> streams_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_REPLY_COUNTER_H_

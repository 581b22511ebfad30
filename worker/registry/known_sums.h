// SPDX-License-Identifier: Apache-2.0
//
// File: known_sums.h
//
// Knows whether files of a registry have the sums that it says, at the cost of
// reading each of them once and again when it has changed. One thread uses it.
#ifndef FROSTLINE_WORKER_REGISTRY_KNOWN_SUMS_H_
#define FROSTLINE_WORKER_REGISTRY_KNOWN_SUMS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "worker/registry/stock_entries.h"

namespace frostline::registry {

class KnownSums {
 public:
  enum class Answer {
    kRight,
    kWrong,
    kLater,    // enough was read for one look
    kUnknown,  // the disk does not let it be read
  };

  explicit KnownSums(std::string folder) : folder_(std::move(folder)) {}

  // Lets `bytes` more be read; one file is read whatever its size.
  void AllowToRead(std::uint64_t bytes);
  // A file without a sum is right.
  Answer Judge(const StockFile& file);

  // Counts the files that were read.
  int computed() const { return computed_; }

 private:
  struct Sum {
    std::string stamp;  // of the file when it was read
    std::string sha256;
  };

  std::string folder_;
  std::map<std::string, Sum> sums_;  // by path
  std::uint64_t left_ = 0;
  bool has_read_ = false;  // since AllowToRead()
  int computed_ = 0;
};

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_KNOWN_SUMS_H_

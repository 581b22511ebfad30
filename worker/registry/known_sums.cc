// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/known_sums.h"

#include <sys/stat.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/trainer/data/input_file.h"

namespace frostline::registry {
namespace {

// The change time is part of it, as a program can set the other one back.
std::string StampOf(const struct stat& info) {
  return absl::StrCat(info.st_dev, ".", info.st_ino, ".", info.st_size, ".",
                      info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, ".",
                      info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec);
}

}  // namespace

void KnownSums::AllowToRead(std::uint64_t bytes) {
  left_ = bytes;
  has_read_ = false;
}

KnownSums::Answer KnownSums::Judge(const StockFile& file) {
  if (file.sha256.empty()) return Answer::kRight;
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(folder_);
  if (!root.ok()) return Answer::kUnknown;
  Expected<trainer::InputFile> opened = root.value().OpenFile(file.path);
  if (!opened.ok()) return Answer::kUnknown;
  struct stat info{};
  if (fstat(opened.value().fd(), &info) != 0) return Answer::kUnknown;
  const std::string stamp = StampOf(info);
  Sum& known = sums_[file.path];
  if (known.stamp != stamp) {
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (has_read_ && size > left_) return Answer::kLater;
    Expected<std::string> sum = opened.value().Sha256();
    if (!sum.ok()) return Answer::kUnknown;
    has_read_ = true;
    left_ -= std::min(left_, size);
    ++computed_;
    known = {stamp, std::move(sum).value()};
  }
  return known.sha256 == file.sha256 ? Answer::kRight : Answer::kWrong;
}

}  // namespace frostline::registry

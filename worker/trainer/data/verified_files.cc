// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/verified_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace frostline::trainer {
namespace {

std::uint64_t Whole(auto number) { return static_cast<std::uint64_t>(number); }

}  // namespace

Expected<InputFile> VerifiedFiles::Open(const std::string& relative,
                                        const std::string& sha256,
                                        const StopSign& stop) {
  Expected<InputFile> file = root_.OpenFile(relative);
  if (!file.ok()) return file;
  struct stat info;
  if (fstat(file.value().fd(), &info) != 0) {
    return Fault{FaultKind::kUnreadable, relative + ": " + std::strerror(errno),
                 "try again"};
  }
  // The change time too: a program can set the other one back.
  const Identity identity = {
      Whole(info.st_dev),          Whole(info.st_ino),
      Whole(info.st_size),         Whole(info.st_mtim.tv_sec),
      Whole(info.st_mtim.tv_nsec), Whole(info.st_ctim.tv_sec),
      Whole(info.st_ctim.tv_nsec)};
  auto known = sums_.find(identity);
  if (known == sums_.end()) {
    Expected<std::string> sum = file.value().Sha256(stop);
    if (!sum.ok()) return sum.fault();
    ++sums_computed_;
    known = sums_.emplace(identity, std::move(sum).value()).first;
  }
  if (known->second == sha256) return file;
  return Fault{
      FaultKind::kInconsistent,
      relative + ": its SHA-256 is " + known->second + ", not " + sha256,
      "put the right file there, or write its sum into the registry"};
}

}  // namespace frostline::trainer

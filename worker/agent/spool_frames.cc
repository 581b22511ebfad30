// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spool_frames.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace frostline::agent {
namespace {

constexpr std::int64_t kBlockBytes = 4096;
constexpr auto kPrefix = static_cast<std::int64_t>(kPrefixBytes);

std::optional<FoundRecord> ReadFrame(int fd, std::int64_t at,
                                     std::int64_t end) {
  const auto body = ReadBody(fd, at, end);
  auto record = body.has_value() ? DecodeRecord(*body) : std::nullopt;
  if (!record.has_value()) return std::nullopt;
  return FoundRecord{*std::move(record), at, at + FrameBytes(*body)};
}

// Where the frame at `at` ends, should its length be whole: what it holds might
// look like a record, so a search within it comes second.
std::optional<FoundRecord> ReadBehind(int fd, std::int64_t at,
                                      std::int64_t end) {
  std::string prefix(kPrefixBytes, '\0');
  if (!ReadAt(fd, at, &prefix)) return std::nullopt;
  const std::int64_t next = at + kPrefix + BodyBytes(prefix);
  return next < end ? ReadFrame(fd, next, end) : std::nullopt;
}

// Looks at every byte from `at` on for the begin of a record.
std::optional<FoundRecord> Search(int fd, std::int64_t at, std::int64_t end) {
  for (std::int64_t start = at; start < end; start += kBlockBytes) {
    // A prefix may lie across two blocks.
    const std::int64_t size = std::min(kBlockBytes + kPrefix, end - start);
    std::string block(static_cast<std::size_t>(size), '\0');
    if (!ReadAt(fd, start, &block)) continue;
    for (std::int64_t i = 0; i < kBlockBytes && i + kPrefix < size; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const std::int64_t length = BodyBytes(block.substr(place, kPrefixBytes));
      const bool fits = length > 0 && length <= end - start - i - kPrefix;
      if (!fits || !IsRecordKind(block[place + kPrefixBytes])) continue;
      auto found = ReadFrame(fd, start + i, end);
      if (found.has_value()) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

bool ReadAt(int fd, std::int64_t at, std::string* bytes) {
  for (std::size_t done = 0; done < bytes->size();) {
    const ssize_t n = pread(fd, bytes->data() + done, bytes->size() - done,
                            at + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::string> ReadBody(int fd, std::int64_t at, std::int64_t end) {
  std::string prefix(kPrefixBytes, '\0');
  if (!ReadAt(fd, at, &prefix)) return std::nullopt;
  const std::int64_t length = BodyBytes(prefix);
  if (length == 0 || length > end - at - kPrefix) return std::nullopt;
  std::string body(static_cast<std::size_t>(length), '\0');
  if (!ReadAt(fd, at + kPrefix, &body) || !HasSum(prefix, body)) {
    return std::nullopt;
  }
  return body;
}

std::optional<FoundRecord> FindRecord(int fd, std::int64_t at,
                                      std::int64_t end) {
  auto found = ReadFrame(fd, at, end);
  if (!found.has_value()) found = ReadBehind(fd, at, end);
  if (!found.has_value()) found = Search(fd, at, end);
  return found;
}

}  // namespace frostline::agent

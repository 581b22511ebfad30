// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kFirstBufferBytes = std::size_t{64} << 10;
// Room for the longest line, its CRLF, a mark, and a byte too many.
constexpr std::size_t kMaxBufferBytes = kMaxDataLineBytes + 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Of the first byte that is not UTF-8, counted from 1.
std::size_t FirstBadByte(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size()) {
    const CodePoint point = DecodeAt(line, at);
    if (!point.valid) break;
    at += point.bytes;
  }
  return at + 1;
}

}  // namespace

LineReader::LineReader(InputFile file)
    : file_(std::move(file)), buffer_(kFirstBufferBytes) {}

Fault LineReader::At(std::size_t number, FaultKind kind,
                     const std::string& what, const std::string& fix) const {
  return Fault{kind, name() + " line " + std::to_string(number) + ": " + what,
               fix};
}

// False when there is nothing more to read, or no room to read it into.
Expected<bool> LineReader::Fill() {
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
              buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    buffer_.resize(std::min(2 * end_, kMaxBufferBytes));
  }
  if (at_end_ || end_ == buffer_.size()) return false;
  Expected<std::size_t> got =
      file_.Read(buffer_.data() + end_, buffer_.size() - end_);
  if (!got.ok()) return got.fault();
  at_end_ = got.value() == 0;
  end_ += got.value();
  return !at_end_;
}

Expected<bool> LineReader::Next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* from = buffer_.data() + begin_ + searched;
    const std::size_t size = end_ - begin_ - searched;
    const void* found = size == 0 ? nullptr : std::memchr(from, '\n', size);
    if (found != nullptr) {
      const std::size_t length = static_cast<std::size_t>(
          static_cast<const char*>(found) - (buffer_.data() + begin_));
      return Take(length, length + 1, line);
    }
    searched = end_ - begin_;
    Expected<bool> more = Fill();
    if (!more.ok()) return more.fault();
    if (more.value()) continue;
    if (searched == 0) return false;
    return Take(searched, searched, line);
  }
}

// Gives out `size` bytes as a line and passes over `end`.
Expected<bool> LineReader::Take(std::size_t size, std::size_t end,
                                std::string_view& line) {
  line = std::string_view(buffer_.data() + begin_, size);
  begin_ += end;
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > kMaxDataLineBytes) {
    return Here(FaultKind::kTooLarge, "is longer than 1 MiB",
                "shorten the text: a model reads a few hundred words of it");
  }
  if (std::memchr(line.data(), '\0', line.size()) != nullptr) {
    return Here(FaultKind::kSyntax, "has a NUL byte",
                "is this a text file in UTF-8? convert it, e.g. with iconv");
  }
  if (!IsAscii(line) && !IsValidUtf8(line)) {
    return Here(FaultKind::kSyntax,
                "is not UTF-8 at byte " + std::to_string(FirstBadByte(line)),
                "convert the file to UTF-8, e.g. iconv -f latin1 -t utf-8");
  }
  return true;
}

}  // namespace frostline::trainer

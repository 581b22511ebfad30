// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/charsmap.h"

#include <cstddef>
#include <cstring>

#include "base/plain/text.h"
#include "worker/trainer/text/base64.h"

namespace frostline::trainer {
namespace {

// A unit of the Darts double array: label in the low byte (bit 31 is set on
// values), offset in the upper bits, shifted by 8 more when bit 9 is set.
bool HasLeaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t LabelOf(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t OffsetOf(std::uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200) >> 6);
}

Fault BrokenCharsmap(const char* what) {
  return {FaultKind::kSyntax,
          std::string("the precompiled_charsmap of the normalizer ") + what,
          "export tokenizer.json again from the original model"};
}

}  // namespace

Expected<Charsmap> Charsmap::Parse(std::string_view base64) {
  const std::optional<std::string> blob = DecodeBase64(base64);
  if (!blob) return BrokenCharsmap("is not base64");
  std::uint32_t bytes = 0;
  if (blob->size() < sizeof bytes) return BrokenCharsmap("is too short");
  std::memcpy(&bytes, blob->data(), sizeof bytes);  // little endian, as we are
  if (bytes == 0 || bytes % 4 != 0 || bytes > blob->size() - sizeof bytes) {
    return BrokenCharsmap("has an array of a wrong length");
  }
  Charsmap map;
  map.units_.resize(bytes / 4);
  std::memcpy(map.units_.data(), blob->data() + sizeof bytes, bytes);
  map.replacements_ = blob->substr(sizeof bytes + bytes);
  if (!IsValidUtf8(map.replacements_)) return BrokenCharsmap("is not UTF-8");
  for (std::size_t i = 1; i < map.ruled_.size(); ++i) {
    const std::uint64_t at = std::uint64_t{OffsetOf(map.units_[0])} ^ i;
    if (at >= map.units_.size() || LabelOf(map.units_[at]) != i) continue;
    // CR LF is the one cluster of two ASCII code points.
    map.ruled_[i] = HasLeaf(map.units_[at]) || i == '\r';
  }
  return map;
}

std::optional<std::string_view> Charsmap::Rule(std::string_view chunk) const {
  std::uint64_t at = OffsetOf(units_[0]);
  for (const char byte : chunk) {
    const auto label = static_cast<unsigned char>(byte);
    at ^= label;
    if (label == 0 || at >= units_.size() || LabelOf(units_[at]) != label) {
      return std::nullopt;
    }
    const std::uint32_t unit = units_[at];
    at ^= OffsetOf(unit);
    if (!HasLeaf(unit)) continue;
    if (at >= units_.size()) return std::nullopt;
    const std::size_t begin = units_[at] & 0x7FFFFFFF;
    if (begin >= replacements_.size() || IsContinuation(replacements_[begin])) {
      return std::nullopt;
    }
    const std::size_t end = replacements_.find('\0', begin);
    return std::string_view(replacements_).substr(begin, end - begin);
  }
  return std::nullopt;
}

}  // namespace frostline::trainer

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/charsmap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/plain/text.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

std::optional<std::string> DecodeBase64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xFFFF;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xFF));
  }
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::size_t GraphemeEnd(std::string_view text, std::size_t begin) {
  CodePoint point = DecodeAt(text, begin);
  char32_t before = point.value;
  std::size_t at = begin + point.bytes;
  if (before == U'\r' && at < text.size() && text[at] == '\n') return at + 1;
  while (at < text.size() && !Has(before, kBreaks)) {
    point = DecodeAt(text, at);
    const bool same = Has(point.value, kJoins) ||
                      (Has(before, kPrepends) && !Has(point.value, kBreaks));
    if (!same) break;
    before = point.value;
    at += point.bytes;
  }
  return at;
}

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

// Applying the rules of a map to a text; finding them is in charsmap.cc.

namespace {

// Only a longer cluster is not looked up whole.
constexpr std::size_t kMaxWholeCluster = 5;

// One code point of the result and how it moves on in the original: above 0
// it is one more for the code point before, else it takes the next one and
// swallows -change further ones.
struct Change {
  char32_t c;
  std::int64_t change;
};

void AppendReplacement(std::string_view from, std::string_view to,
                       std::vector<Change>& changes) {
  const auto before = static_cast<std::int64_t>(CountCodePoints(from));
  const auto after = static_cast<std::int64_t>(CountCodePoints(to));
  std::int64_t made = 0;
  for (std::size_t i = 0; i < to.size(); ++made) {
    const CodePoint point = DecodeAt(to, i);
    changes.push_back({point.value, made < before ? 0 : 1});
    i += point.bytes;
  }
  // With nothing at all before it, a removal goes unrecorded in the reference
  // and shifts every span after it; published offsets have it so.
  if (after < before && !changes.empty()) {
    changes.back().change += after - before;
  }
}

void ApplyCharsmap(const std::vector<Change>& changes, std::uint32_t base,
                   std::uint32_t count, NormalizedText& out) {
  std::int64_t next = 0;
  const std::int64_t last = std::int64_t{count} - 1;
  const auto span = [&](std::int64_t i) -> Span {
    const auto at =
        base + static_cast<std::uint32_t>(std::clamp<std::int64_t>(i, 0, last));
    return {at, at + 1};
  };
  for (const Change& change : changes) {
    if (change.change > 0) {
      out.Append(change.c, next == 0 ? Span{base, base} : span(next - 1));
      continue;
    }
    out.Append(change.c, span(next));
    next += 1 - change.change;
  }
}

}  // namespace

void Charsmap::Run(std::string_view raw, std::uint32_t base,
                   NormalizedText& out) const {
  const auto plain = [this](char byte) {
    const auto c = static_cast<unsigned char>(byte);
    return c < 128 && !ruled_[c];
  };
  if (std::all_of(raw.begin(), raw.end(), plain)) {
    return out.AssignIdentity(raw, base);
  }
  std::vector<Change> changes;
  changes.reserve(raw.size());
  bool changed = false;
  const auto replace = [&](std::string_view from) {
    const std::optional<std::string_view> to = Rule(from);
    if (!to) return false;
    AppendReplacement(from, *to, changes);
    changed = true;
    return true;
  };
  for (std::size_t i = 0; i < raw.size();) {
    if (plain(raw[i]) && i + 1 < raw.size() && plain(raw[i + 1])) {
      changes.push_back({static_cast<unsigned char>(raw[i++]), 0});
      continue;
    }
    const std::size_t end = GraphemeEnd(raw, i);
    const std::string_view cluster = raw.substr(i, end - i);
    if (cluster.size() <= kMaxWholeCluster && replace(cluster)) {
      i = end;
      continue;
    }
    while (i < end) {
      const CodePoint point = DecodeAt(raw, i);
      if (!replace(raw.substr(i, point.bytes))) {
        changes.push_back({point.value, 0});
      }
      i += point.bytes;
    }
  }
  if (!changed) return out.Assign(raw, base);
  out.Clear(base);
  ApplyCharsmap(changes, base, static_cast<std::uint32_t>(CountCodePoints(raw)),
                out);
}

}  // namespace frostline::trainer

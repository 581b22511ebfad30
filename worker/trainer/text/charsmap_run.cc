// SPDX-License-Identifier: Apache-2.0
//
// Applying the rules of a map to a text; finding them is in charsmap.cc.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/plain/text.h"
#include "worker/trainer/text/charsmap.h"
#include "worker/trainer/text/grapheme.h"

namespace frostline::trainer {
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

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/normalized_text.h"

namespace frostline::trainer {

void NormalizedText::Assign(std::string_view text, std::uint32_t base) {
  if (IsAscii(text)) return AssignIdentity(text, base);
  Clear(base);
  bytes_ = text;
  spans_.reserve(text.size());
  std::uint32_t next = base;
  for (const char byte : text) {
    if (!IsContinuation(byte)) ++next;
    spans_.push_back({next - 1, next});
  }
}

void NormalizedText::AppendCopy(const NormalizedText& from, ByteRange range) {
  bytes_.append(from.at(range));
  if (!from.identity_) {
    const auto begin = from.spans_.begin();
    spans_.insert(spans_.end(),
                  begin + static_cast<std::ptrdiff_t>(range.begin),
                  begin + static_cast<std::ptrdiff_t>(range.end));
    return;
  }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    spans_.push_back(from.SpanAt(i));
  }
}

}  // namespace frostline::trainer

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/conllu_id.h"

#include <charconv>
#include <optional>
#include <system_error>

namespace frostline::trainer {
namespace {

std::optional<std::uint32_t> WholeNumber(std::string_view text) {
  std::uint32_t number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto parsed = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

ConlluLine ConlluLineOf(std::string_view id, std::uint32_t words) {
  const std::size_t mark = id.find_first_of("-.");
  const std::optional<std::uint32_t> first = WholeNumber(id.substr(0, mark));
  if (!first) return ConlluLine::kBroken;
  if (mark == std::string_view::npos) {
    return *first == words + 1 ? ConlluLine::kWord : ConlluLine::kBroken;
  }
  const std::optional<std::uint32_t> last = WholeNumber(id.substr(mark + 1));
  if (!last) return ConlluLine::kBroken;
  if (id[mark] == '-') {
    const bool next = *first == words + 1 && *last > *first;
    return next ? ConlluLine::kRange : ConlluLine::kBroken;
  }
  return *first == words && *last > 0 ? ConlluLine::kEmptyNode
                                      : ConlluLine::kBroken;
}

}  // namespace frostline::trainer

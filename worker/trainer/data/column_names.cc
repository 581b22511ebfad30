// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/column_names.h"

#include <algorithm>
#include <charconv>

#include "base/plain/text.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kNamesShown = 20;

}  // namespace

std::optional<std::size_t> FindColumn(const std::vector<std::string>& names,
                                      std::size_t width,
                                      std::string_view column) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found != names.end()) {
    if (std::find(found + 1, names.end(), column) != names.end()) return {};
    return static_cast<std::size_t>(found - names.begin());
  }
  std::size_t number = 0;
  const char* const begin = column.data();
  const char* const end = begin + column.size();
  const auto parsed = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {};
  if (number < 1 || number > width) return {};
  return number - 1;
}

Fault MissingColumn(const std::string& file, std::string_view column,
                    const std::vector<std::string>& names, std::size_t width) {
  const auto count = std::count(names.begin(), names.end(), column);
  std::string cause = file + ": has " + (count > 1 ? "two columns " : "no ") +
                      (count > 1 ? "" : "column ") + Shown(column);
  std::string fix = "name a column in `columns`, or give its number, 1 to " +
                    std::to_string(width);
  if (!names.empty()) fix += "; there are ";
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    fix += (i > 0 ? ", " : "") + Shown(names[i]);
  }
  if (names.size() > kNamesShown) fix += ", …";
  return Fault{FaultKind::kInconsistent, std::move(cause), std::move(fix)};
}

}  // namespace frostline::trainer

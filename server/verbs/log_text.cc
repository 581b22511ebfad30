// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/log_text.h"

#include <algorithm>

namespace frostline::server {

std::string LastBytes(const std::string& tail, std::int64_t most) {
  const auto limit = static_cast<std::size_t>(most);
  if (tail.size() <= limit) return tail;
  std::string last = tail.substr(tail.size() - limit);
  const std::size_t line = last.find('\n');
  const bool some_left = line != std::string::npos && line + 1 < last.size();
  return some_left ? last.substr(line + 1) : last;
}

std::string TextAfter(const std::string& tail, std::int64_t end,
                      std::optional<std::int64_t> after) {
  if (!after.has_value() || end <= 0) return tail;
  const std::int64_t fresh = std::max<std::int64_t>(end - *after, 0);
  const auto size = static_cast<std::int64_t>(tail.size());
  return tail.substr(static_cast<std::size_t>(size - std::min(fresh, size)));
}

}  // namespace frostline::server

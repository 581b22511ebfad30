// SPDX-License-Identifier: Apache-2.0
//
// File: shown.h
//
// Shortens a stranger's text for a fault to quote, never within a character, as
// faults travel in JSON.
#ifndef FROSTLINE_BASE_PLAIN_SHOWN_H_
#define FROSTLINE_BASE_PLAIN_SHOWN_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/plain/text.h"

namespace frostline {

inline std::string Shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  if (text.size() <= kMost) return "'" + std::string(text) + "'";
  std::size_t size = kMost;
  while (size > 0 && IsContinuation(text[size])) --size;
  return "'" + std::string(text.substr(0, size)) + "…'";
}

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_SHOWN_H_

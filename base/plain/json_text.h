// SPDX-License-Identifier: Apache-2.0
//
// File: json_text.h
#ifndef FROSTLINE_BASE_PLAIN_JSON_TEXT_H_
#define FROSTLINE_BASE_PLAIN_JSON_TEXT_H_

#include <string>
#include <string_view>

#include "base/plain/json.h"

namespace frostline {

// Quotes and escapes. REQUIRES: `text` is UTF-8.
std::string JsonString(std::string_view text);
// Writes the shortest digits that read back the same. REQUIRES: it is finite.
std::string JsonNumber(double number);
// Writes a value as it was read, on one line; numbers keep their digits.
std::string JsonText(const JsonValue& value);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_JSON_TEXT_H_

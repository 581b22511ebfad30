// SPDX-License-Identifier: Apache-2.0
//
// File: json_text.h
//
// Writes JSON.
#ifndef FROSTLINE_BASE_PLAIN_JSON_TEXT_H_
#define FROSTLINE_BASE_PLAIN_JSON_TEXT_H_

#include <string>
#include <string_view>

#include "base/plain/json.h"

namespace frostline {

// Quoted and escaped. REQUIRES: `text` is UTF-8.
std::string JsonString(std::string_view text);
// The shortest digits that read back the same. REQUIRES: it is finite.
std::string JsonNumber(double number);
// A value as it was read, on one line; numbers keep their digits.
std::string JsonText(const JsonValue& value);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_JSON_TEXT_H_

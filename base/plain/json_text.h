// SPDX-License-Identifier: Apache-2.0
//
// File: json_text.h
//
// Writes JSON: for headers of weights, configurations and messages.
#ifndef FROSTLINE_BASE_PLAIN_JSON_TEXT_H_
#define FROSTLINE_BASE_PLAIN_JSON_TEXT_H_

#include <string>
#include <string_view>

#include "base/plain/json.h"

namespace frostline {

// In double quotes, with what must be escaped escaped. `text` is UTF-8.
std::string JsonString(std::string_view text);
// The shortest digits that read back as the same number; it is finite.
std::string JsonNumber(double number);
// A value as it was read, on one line; numbers keep their digits.
std::string JsonText(const JsonValue& value);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_JSON_TEXT_H_

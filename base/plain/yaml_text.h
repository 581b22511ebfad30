// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_text.h
//
// Faults are as in yaml_scalar.h.
#ifndef FROSTLINE_BASE_PLAIN_YAML_TEXT_H_
#define FROSTLINE_BASE_PLAIN_YAML_TEXT_H_

#include <string>
#include <string_view>

#include "base/plain/result.h"

namespace frostline {

Fault YamlFault(const std::string& what, const std::string& fix);
Fault YamlNotClosed(char mark);

// Removes the blanks before it, too.
std::string_view WithoutComment(std::string_view line);

void SkipBlanks(std::string_view& rest);

// Takes 'it''s' or "a\"b" from the front of `rest`; the only escapes are \" and
// \\.
Expected<std::string> TakeYamlQuoted(std::string_view& rest);

// Takes a text without quotes: it is not empty, and nothing that means more in
// YAML.
Expected<std::string> YamlPlain(std::string_view text);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_TEXT_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_text.h
//
// The single words of YAML, with faults as in yaml_scalar.h.
#ifndef FROSTLINE_BASE_PLAIN_YAML_TEXT_H_
#define FROSTLINE_BASE_PLAIN_YAML_TEXT_H_

#include <string>
#include <string_view>

#include "base/plain/result.h"

namespace frostline {

Fault YamlFault(const std::string& what, const std::string& fix);
Fault YamlNotClosed(char mark);

// Without the blanks before it, too.
std::string_view WithoutComment(std::string_view line);

void SkipBlanks(std::string_view& rest);

// Takes 'it''s' or "a\"b" from the front of `rest`; the only escapes are \" and
// \\.
Expected<std::string> TakeYamlQuoted(std::string_view& rest);

// A text without quotes: not empty, nothing that means more in YAML.
Expected<std::string> YamlPlain(std::string_view text);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_TEXT_H_

// SPDX-License-Identifier: Apache-2.0
#include "base/plain/predictions_file.h"

namespace frostline {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

std::string SafeName(std::string_view id) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string name;
  for (const char c : id) {
    // No name may begin with a dot.
    if (IsPlain(c) && !(c == '.' && name.empty())) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += '%';
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

}  // namespace

std::string PredictionsPath(std::string_view set, std::string_view task) {
  std::string path = std::string(kPredictionsFolder) + "/";
  if (!task.empty()) path += SafeName(task) + "/";
  return path + SafeName(set) + ".tsv";
}

std::string EscapeColumn(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\t') {
      escaped += "\\t";
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\r') {
      escaped += "\\r";
    } else if (c == '\\') {
      escaped += "\\\\";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string UnescapeColumn(std::string_view column) {
  std::string text;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (column[i] != '\\' || i + 1 == column.size()) {
      text += column[i];
      continue;
    }
    const char escaped = column[++i];
    text += escaped == 't'   ? '\t'
            : escaped == 'n' ? '\n'
            : escaped == 'r' ? '\r'
                             : escaped;
  }
  return text;
}

}  // namespace frostline

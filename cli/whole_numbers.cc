// SPDX-License-Identifier: Apache-2.0
#include "cli/whole_numbers.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxNumberWord = 100;

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

std::string WrongWithWhole(const std::string& word, bool has_sign) {
  std::string_view digits = word;
  if (has_sign && digits.starts_with('-')) digits.remove_prefix(1);
  const std::string shown = proto::CleanText(word, kMaxNumberWord);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) {
    return absl::StrCat("'", shown, "' is no whole number",
                        has_sign ? "" : " from 0");
  }
  if (digits.size() > 1 && digits.front() == '0') {
    return absl::StrCat("'", shown,
                        "' begins with 0; numbers are decimal, write it "
                        "without");
  }
  std::int64_t number = 0;
  std::uint64_t natural = 0;
  const bool fits = has_sign ? absl::SimpleAtoi(word, &number)
                             : absl::SimpleAtoi(word, &natural);
  return fits ? "" : absl::StrCat("'", shown, "' is too large");
}

// Returns whether a type of CLI11 is a whole number, or a range of them where
// another name is shown.
bool IsWhole(const std::string& type) {
  return absl::StartsWith(type, "INT") || absl::StartsWith(type, "UINT") ||
         absl::StrContains(type, "INT in [");
}

}  // namespace

void TakeDecimalAlone(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (!IsWhole(type)) continue;
    const bool has_sign = !absl::StrContains(type, "UINT");
    // A transformation runs before the other checks. Otherwise a range would
    // say that a word which is not a number is out of range.
    option->transform(CLI::Validator(
        [has_sign](const std::string& word) {
          return WrongWithWhole(word, has_sign);
        },
        ""));
  }
  for (CLI::App* const below : app.get_subcommands({}))
    TakeDecimalAlone(*below);
}

}  // namespace frostline::cli

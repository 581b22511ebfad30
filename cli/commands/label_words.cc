// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/label_words.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

absl::Status NoLabel(const std::string& cause, const std::string& flag) {
  return MakeError(ErrorId::kRequestInvalid, cause,
                   "write KEY=VALUE to set a label, KEY- to take it away, "
                   "each key once",
                   flag);
}

}  // namespace

absl::Status ChangeLabels(const std::vector<std::string>& words,
                          const std::string& flag, LabelMap& labels) {
  LabelMap changed = labels;
  std::set<std::string> seen;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool takes_away =
        equals == std::string::npos && word.size() > 1 && word.back() == '-';
    if (!takes_away && (equals == std::string::npos || equals == 0)) {
      return NoLabel(absl::StrCat("'", word, "' is no change of a label"),
                     flag);
    }
    const std::string key =
        takes_away ? word.substr(0, word.size() - 1) : word.substr(0, equals);
    if (!seen.insert(key).second) {
      return NoLabel(absl::StrCat("the label '", key, "' is named twice"),
                     flag);
    }
    if (takes_away) {
      changed.erase(key);
    } else {
      changed[key] = word.substr(equals + 1);
    }
  }
  labels = std::move(changed);
  return absl::OkStatus();
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
//
// File: label_words.h
//
// Labels as words of a command line: KEY=VALUE sets one, KEY- takes it away.
#ifndef FROSTLINE_CLI_COMMANDS_LABEL_WORDS_H_
#define FROSTLINE_CLI_COMMANDS_LABEL_WORDS_H_

#include <google/protobuf/map.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace frostline::cli {

using LabelMap = google::protobuf::Map<std::string, std::string>;

// Changes all or, at a word that is neither or a key named twice, none: a usage
// error. To take away what is not there is no mistake.
absl::Status ChangeLabels(const std::vector<std::string>& words,
                          const std::string& flag, LabelMap& labels);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_LABEL_WORDS_H_

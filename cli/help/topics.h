// SPDX-License-Identifier: Apache-2.0
//
// File: topics.h
#ifndef FROSTLINE_CLI_HELP_TOPICS_H_
#define FROSTLINE_CLI_HELP_TOPICS_H_

#include <string>
#include <vector>

namespace frostline::cli {

// Of `frostline help TOPIC`, beside the commands.
std::vector<std::string> TopicNames();

// It is empty for a word that is no topic.
std::string TopicText(const std::string& topic);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_TOPICS_H_

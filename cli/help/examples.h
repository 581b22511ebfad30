// SPDX-License-Identifier: Apache-2.0
//
// File: examples.h
//
// Lines that each command's help begins with. They are kept in examples.txt and
// travel inside the binary.
#ifndef FROSTLINE_CLI_HELP_EXAMPLES_H_
#define FROSTLINE_CLI_HELP_EXAMPLES_H_

#include <map>
#include <string>
#include <vector>

namespace frostline::cli {

extern const char kHelpExamples[];  // examples.txt

// By path, "study show"; those of the program itself are at "frostline".
using ExampleTable = std::map<std::string, std::vector<std::string>>;

ExampleTable ReadExamples(const std::string& text);

// Of the text that is built in; it is empty for a command without.
std::vector<std::string> ExamplesOf(const std::string& path);

// Of `frostline help TOPIC`, beside the commands.
std::vector<std::string> TopicNames();

// It is empty for a word that is no topic.
std::string TopicText(const std::string& topic);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_EXAMPLES_H_

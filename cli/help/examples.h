// SPDX-License-Identifier: Apache-2.0
//
// File: examples.h
//
// The examples at the start of each command's help. They are kept in
// examples.txt and built into the program.
#ifndef FROSTLINE_CLI_HELP_EXAMPLES_H_
#define FROSTLINE_CLI_HELP_EXAMPLES_H_

#include <map>
#include <string>
#include <vector>

namespace frostline::cli {

extern const char kHelpExamples[];  // examples.txt

// Examples by path of the command, such as "study show". Those of the program
// itself are at "frostline".
using ExampleTable = std::map<std::string, std::vector<std::string>>;

ExampleTable ReadExamples(const std::string& text);

// Returns the built-in examples of a command, or none.
std::vector<std::string> ExamplesOf(const std::string& path);

// Returns the topics of `frostline help TOPIC` besides the commands.
std::vector<std::string> TopicNames();

// Returns the text of a topic, or "" when there is no such topic.
std::string TopicText(const std::string& topic);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_EXAMPLES_H_

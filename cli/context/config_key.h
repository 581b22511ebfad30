// SPDX-License-Identifier: Apache-2.0
//
// File: config_key.h
//
// What a configuration file may say. A new key is one line of the table.
#ifndef FROSTLINE_CLI_CONTEXT_CONFIG_KEY_H_
#define FROSTLINE_CLI_CONTEXT_CONFIG_KEY_H_

#include <string>
#include <vector>

namespace frostline::cli {

// A project file comes with what is checked out or copied, so it may be a
// stranger's: it may say nothing that makes a program run, names a credential
// or chooses a folder whose files are removed.
enum class ConfigScope { kUser, kProject };

enum class ConfigForm { kAddress, kName, kPath, kFormat, kColor, kCommand };

struct ConfigKey {
  std::string name;
  ConfigForm form;
  bool in_project;       // a project file may say it
  std::string flag;      // or empty
  std::string variable;  // or empty
  // The value stands in for the variable, so that whoever reads that has it.
  bool passed_on;
  std::string unless_said;  // what holds when nobody says it
  std::string what;
};

const std::vector<ConfigKey>& ConfigKeys();
// Answers null for a key that there is not.
const ConfigKey* FindConfigKey(const std::string& name);
std::vector<std::string> ConfigKeyNames();

// Says what is wrong with a value, or "".
std::string WrongWith(const ConfigKey& key, const std::string& value);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_CONFIG_KEY_H_

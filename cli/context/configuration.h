// SPDX-License-Identifier: Apache-2.0
//
// File: configuration.h
//
// Flags stand before the environment, that before the project's file, and that
// before the user's file:
//
//   .frostline.yaml in the working folder or above it
//   ${XDG_CONFIG_HOME:-~/.config}/frostline/config.yaml
#ifndef FROSTLINE_CLI_CONTEXT_CONFIGURATION_H_
#define FROSTLINE_CLI_CONTEXT_CONFIGURATION_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/context/config_file.h"
#include "cli/context/target.h"

namespace frostline::cli {

// Where one looks; tests name folders of their own.
struct ConfigPlaces {
  std::string working_folder;
  std::string home;       // or empty
  std::string user_file;  // or empty: there is none
  std::function<std::string(const std::string& name)> variable;
};

ConfigPlaces PlacesOfUser();

struct Configuration {
  ConfigValues project;
  ConfigValues user;
  std::string project_file;  // empty: there is none
  std::string user_file;     // where it is, or would be
  // Those of the table that are set, as they were before PassOn().
  std::map<std::string, std::string> variables;
  std::vector<std::string> warnings;
  // Why the user's file could not be opened or read; then it says nothing.
  absl::Status unread;
  // The first mistake in a file, of which nothing holds then.
  absl::Status wrong;

  // What the files say of a key: the project's before the user's, or null.
  const ConfigValue* Find(const std::string& key) const;
};

// A project file that is not its user's own is no error but a warning, and is
// not read; a user's file that is not is TLS_FILE. See ParseConfig(). One file
// may be `wrong`, and the other holds all the same.
Configuration LoadConfiguration(const ConfigPlaces& places);

// Sets variables that are not set, where a file says what they would. Call it
// before any other thread runs.
void PassOn(const Configuration& configuration);

// What the files say of the coordinator, for ChooseTarget().
FileWishes WishesOf(const Configuration& configuration);

// The format that a file asks for, on a terminal alone: scripts get what they
// always got.
std::optional<std::string> ConfiguredFormat(const Configuration& configuration,
                                            bool out_is_tty);

// Shows no token, and no password of a URL.
std::string MaskSecrets(const std::string& text);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_CONFIGURATION_H_

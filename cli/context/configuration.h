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
#include "absl/status/statusor.h"
#include "cli/context/context_store.h"

namespace frostline::cli {

// What a configuration file may say. A new key is one line of the table.

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

// A configuration file is a flat map: a key, and a text behind it.
//
//   connect: gpu-head.lan:7443
//   tls_ca: ~/lab/ca.crt

inline constexpr char kProjectFile[] = ".frostline.yaml";

struct ConfigValue {
  std::string text;
  std::string origin;  // "FILE:3"
};

using ConfigValues = std::map<std::string, ConfigValue>;

// A key that there is not, or that a file of this scope may not say, and a
// value that is none are REQUEST_INVALID, whose cause begins with
// "FILE:LINE:COLUMN: ". A relative path is meant from the file's folder, and
// "~/" from `home`.
absl::StatusOr<ConfigValues> ParseConfig(const std::string& text,
                                         const std::string& file,
                                         ConfigScope scope,
                                         const std::string& home);

// Looks in `folder` and above it, up to `home` or the root of a repository,
// those included. It is empty when there is none.
std::string FindProjectFile(const std::string& folder, const std::string& home);

// Reads a file that is its user's own. Answers nothing when it is not there;
// REQUEST_INVALID when it cannot be opened or read; TLS_FILE when it is another
// user's, no file, or anybody may write it; a group may, for `group_may_write`,
// as files in a checkout often are.
absl::StatusOr<std::optional<std::string>> ReadOwnFile(const std::string& path,
                                                       bool group_may_write);

// Returns `text` with the key set, every other line as it was. Answers
// REQUEST_INVALID where the key is written in a form that a line cannot
// replace, or a comment stands behind it, which would be lost.
absl::StatusOr<std::string> SetInConfig(const std::string& text,
                                        const std::string& file,
                                        const std::string& key,
                                        const std::string& value);

// Returns `text` without the key, which may be missing; refuses as SetInConfig.
absl::StatusOr<std::string> UnsetInConfig(const std::string& text,
                                          const std::string& file,
                                          const std::string& key);

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

// SPDX-License-Identifier: Apache-2.0
//
// File: configuration.h
//
// The configuration files and their settings. Flags override the environment,
// which overrides the project's file, which overrides the user's file:
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

// The keys of a configuration file. A new key is one more line of the table.

// The two kinds of configuration files. A project's file comes with a checkout
// or a copy, so a stranger may have written it. It may not run a program, name
// a credential or choose a folder whose files are removed.
enum class ConfigScope { kUser, kProject };

enum class ConfigForm { kAddress, kName, kPath, kFormat, kColor, kCommand };

// A row of the table of keys.
struct ConfigKey {
  std::string name;
  ConfigForm form;
  bool in_project;       // a project's file may set it
  std::string flag;      // or empty
  std::string variable;  // or empty
  // Whether the value is exported as the variable, for code that reads only
  // that.
  bool passed_on;
  std::string unless_said;  // the default, for people
  std::string what;
};

const std::vector<ConfigKey>& ConfigKeys();
// Returns the key of this name, or null.
const ConfigKey* FindConfigKey(const std::string& name);
std::vector<std::string> ConfigKeyNames();

// Returns what is wrong with a value, or "".
std::string WrongWith(const ConfigKey& key, const std::string& value);

// A configuration file is a flat map from keys to texts:
//
//   connect: gpu-head.lan:7443
//   tls_ca: ~/lab/ca.crt

inline constexpr char kProjectFile[] = ".frostline.yaml";

struct ConfigValue {
  std::string text;
  std::string origin;  // "FILE:3"
};

using ConfigValues = std::map<std::string, ConfigValue>;

// Parses a configuration file. Returns REQUEST_INVALID for an unknown key, a
// key that this scope may not set, and a bad value; the cause begins with
// "FILE:LINE:COLUMN: ". A relative path starts at the file's folder, and "~/"
// at `home`.
absl::StatusOr<ConfigValues> ParseConfig(const std::string& text,
                                         const std::string& file,
                                         ConfigScope scope,
                                         const std::string& home);

// Returns the path of the project's file. It looks in `folder` and the folders
// above it, up to and including `home` or the root of a repository. Returns ""
// when there is none.
std::string FindProjectFile(const std::string& folder, const std::string& home);

// Reads a file that must belong to the user. Returns nothing when it does not
// exist; REQUEST_INVALID when it cannot be opened or read; TLS_FILE when it
// belongs to another user, is not a regular file, or is writable by others.
// `group_may_write` allows write access for the group, which is common in a
// checkout.
absl::StatusOr<std::optional<std::string>> ReadOwnFile(const std::string& path,
                                                       bool group_may_write);

// Returns `text` with the key set; all other lines stay as they are. Returns
// REQUEST_INVALID when the key has a form that one line cannot replace, or is
// followed by a comment, which would be lost.
absl::StatusOr<std::string> SetInConfig(const std::string& text,
                                        const std::string& file,
                                        const std::string& key,
                                        const std::string& value);

// Returns `text` without the key, which may be missing. Returns the errors of
// SetInConfig().
absl::StatusOr<std::string> UnsetInConfig(const std::string& text,
                                          const std::string& file,
                                          const std::string& key);

// The places where configuration files are searched. Tests use other folders.
struct ConfigPlaces {
  std::string working_folder;
  std::string home;       // or empty
  std::string user_file;  // empty: there is none
  std::function<std::string(const std::string& name)> variable;
};

ConfigPlaces PlacesOfUser();

// The values of both files, with warnings and mistakes.
struct Configuration {
  ConfigValues project;
  ConfigValues user;
  std::string project_file;  // empty: there is none
  std::string user_file;     // where it is or would be
  // The variables of the table that are set, as they were before PassOn().
  std::map<std::string, std::string> variables;
  std::vector<std::string> warnings;
  // The error when the user's file could not be opened or read; it then has no
  // values.
  absl::Status unread;
  // The first mistake in a file; no value of that file counts then.
  absl::Status wrong;

  // Returns the value of a key from the project's file, else from the user's
  // file, else null.
  const ConfigValue* Find(const std::string& key) const;
};

// Loads both files. A project's file that belongs to another user is ignored
// with a warning; such a user's file is TLS_FILE. See ParseConfig(). If one
// file is `wrong`, the other still counts.
Configuration LoadConfiguration(const ConfigPlaces& places);

// Sets environment variables from the files, unless they are set already. Call
// it before any other thread runs.
void PassOn(const Configuration& configuration);

// Returns what the files say about the coordinator, for ChooseTarget().
ConfiguredTargets ConfiguredTargetsOf(const Configuration& configuration);

// Returns the format that a file asks for. It applies only on a terminal, so
// that the output for scripts does not change.
std::optional<std::string> ConfiguredFormat(const Configuration& configuration,
                                            bool out_is_tty);

// Replaces a token, and the password of a URL, by a mask.
std::string MaskSecrets(const std::string& text);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_CONFIGURATION_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: config_file.h
//
// A configuration file is a flat map: a key, and a text behind it.
//
//   connect: gpu-head.lan:7443
//   tls_ca: ~/lab/ca.crt
#ifndef FROSTLINE_CLI_CONTEXT_CONFIG_FILE_H_
#define FROSTLINE_CLI_CONTEXT_CONFIG_FILE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/context/config_key.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_CONFIG_FILE_H_

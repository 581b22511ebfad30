// SPDX-License-Identifier: Apache-2.0
//
// File: secret_prompt.h
#ifndef FROSTLINE_CLI_TERM_SECRET_PROMPT_H_
#define FROSTLINE_CLI_TERM_SECRET_PROMPT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/secret.h"

namespace frostline::cli {

// Reads a line of standard input, without its end. On a terminal it asks with
// `prompt`, on standard error, and shows nothing of what is typed; Ctrl-C is
// CANCELLED then, and the terminal as it was. What is empty, or longer than a
// kilobyte, is REQUEST_INVALID.
absl::StatusOr<SecretString> ReadSecret(const std::string& prompt);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_SECRET_PROMPT_H_

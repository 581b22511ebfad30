// SPDX-License-Identifier: Apache-2.0
//
// File: private_file.h
//
// A key or a token that others can read is no secret, so it is not used.
#ifndef FROSTLINE_TLS_PRIVATE_FILE_H_
#define FROSTLINE_TLS_PRIVATE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/secret.h"

namespace frostline::tls {

inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;

// Answers TLS_FILE at `field` when the file cannot be read, when others may
// read it, or its group may and the owner is not root: as a secret that
// Kubernetes mounts has it.
absl::StatusOr<SecretString> ReadPrivateFile(const std::string& path,
                                             const std::string& field);
// The same without a look at who else may read it.
absl::StatusOr<std::string> ReadPublicFile(const std::string& path,
                                           const std::string& field);

// Writes it with mode 0600, whole or not at all, and replaces what is there.
absl::Status WritePrivateFile(const std::string& path, const SecretString& text,
                              const std::string& field);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_PRIVATE_FILE_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: private_file.h
//
// Files that hold secrets. A key or token that others can read is no secret, so
// it is not used.
#ifndef FROSTLINE_TLS_PRIVATE_FILE_H_
#define FROSTLINE_TLS_PRIVATE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/secret.h"

namespace frostline::tls {

inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;

// Reads a secret. The error is TLS_FILE at `field` when the file cannot be read
// or others may read it. Its group may read it only when root owns it, as
// Kubernetes mounts secrets.
absl::StatusOr<SecretString> ReadPrivateFile(const std::string& path,
                                             const std::string& field);
// Reads a file without checking who else may read it.
absl::StatusOr<std::string> ReadPublicFile(const std::string& path,
                                           const std::string& field);

// Writes the file with mode 0600, whole or not at all, and replaces one that is
// there.
absl::Status WritePrivateFile(const std::string& path, const SecretString& text,
                              const std::string& field);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_PRIVATE_FILE_H_

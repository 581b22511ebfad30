// SPDX-License-Identifier: Apache-2.0
//
// File: context_store.h
//
// A context is a coordinator with who one is there, kept for its user alone:
//
//   ~/.config/frostline/current-context        lab
//   ~/.config/frostline/contexts/lab/          0700
//     connect   gpu-head.lan:7443              0600, as the others
//     token     frost_…
//     ca.crt    absent for a plaintext address of this machine
#ifndef FROSTLINE_CLI_CONTEXT_CONTEXT_STORE_H_
#define FROSTLINE_CLI_CONTEXT_CONTEXT_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/secret.h"
#include "tls/credentials.h"

namespace frostline::cli {

struct Context {
  std::string name;
  std::string connect;
  tls::AccessFiles access;  // paths within its folder
};

struct NewContext {
  std::string name;
  std::string connect;
  SecretString token;
  std::string ca_pem;  // or empty
};

// A context that others may read, that is another user's or that is damaged is
// TLS_FILE, one that is not there REQUEST_INVALID. Nothing is cached.
class ContextStore {
 public:
  // Of $XDG_CONFIG_HOME, else ~/.config; without either there is no context,
  // and none can be kept.
  static ContextStore OfUser();
  // An empty folder stands for none.
  explicit ContextStore(std::string folder) : folder_(std::move(folder)) {}

  // In the order of the alphabet, those that Read() refuses too.
  absl::StatusOr<std::vector<std::string>> Names() const;
  absl::StatusOr<Context> Read(const std::string& name) const;
  bool Has(const std::string& name) const;

  // Replaces one of the same name, whole or not at all.
  absl::Status Keep(const NewContext& made) const;
  // The current one is then none, if it was that.
  absl::Status Remove(const std::string& name) const;

  // It is empty when there is none.
  absl::StatusOr<std::string> Current() const;
  // REQUIRES: Read(name) has been fine.
  absl::Status SetCurrent(const std::string& name) const;

  std::string FolderOf(const std::string& name) const;

 private:
  std::string contexts() const { return folder_ + "/contexts"; }
  std::string current() const { return folder_ + "/current-context"; }

  std::string folder_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_CONTEXT_STORE_H_

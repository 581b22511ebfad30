// SPDX-License-Identifier: Apache-2.0
//
// File: context_store.h
//
// A context is a coordinator and the identity to use there. Its files are
// readable only by their user:
//
//   ~/.config/frostline/current-context        lab
//   ~/.config/frostline/contexts/lab/          0700
//     connect   gpu-head.lan:7443              0600, as the others
//     token     frost_…
//     ca.crt    absent for a plaintext address of this machine
#ifndef FROSTLINE_CLI_CONTEXT_CONTEXT_STORE_H_
#define FROSTLINE_CLI_CONTEXT_CONTEXT_STORE_H_

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/secret.h"
#include "tls/credentials.h"

namespace frostline::cli {

// Files and folders that only their user may access. Every error is TLS_FILE.

// Returns the mode of `path`, nothing when it does not exist, and an error when
// it belongs to another user. Does not follow a link.
absl::StatusOr<std::optional<mode_t>> ModeOf(const std::string& path);

// Returns an error, with the command that fixes it, when the mode has any of
// the bits in `refused`.
absl::Status CheckMode(const std::string& path, mode_t mode, mode_t refused);

// Creates the folder with mode 0700, or accepts it when it exists.
absl::Status MakeFolder(const std::string& path);

absl::Status Unwritable(const std::string& path, const std::string& why);

// A saved context.
struct Context {
  std::string name;
  std::string connect;
  tls::AccessFiles access;  // paths in the context's folder
};

// A context that is to be saved.
struct NewContext {
  std::string name;
  std::string connect;
  SecretString token;
  std::string ca_pem;  // or empty
};

// The contexts of a user. A context that others may read, that belongs to
// another user or that is damaged is TLS_FILE; an unknown one is
// REQUEST_INVALID. Nothing is cached.
class ContextStore {
 public:
  // Returns the store in $XDG_CONFIG_HOME, else in ~/.config. Without either
  // there are no contexts and none can be saved.
  static ContextStore OfUser();
  // An empty folder means that there are no contexts.
  explicit ContextStore(std::string folder) : folder_(std::move(folder)) {}

  // Returns all names in alphabetical order, also of contexts that Read()
  // refuses.
  absl::StatusOr<std::vector<std::string>> Names() const;
  absl::StatusOr<Context> Read(const std::string& name) const;
  bool Has(const std::string& name) const;

  // Saves a context, completely or not at all. It replaces one of the same
  // name.
  absl::Status Keep(const NewContext& made) const;
  // Removes a context. If it was the current one, there is no current context
  // then.
  absl::Status Remove(const std::string& name) const;

  // Returns the name of the current context, or "".
  absl::StatusOr<std::string> Current() const;
  // Makes a context the current one. REQUIRES: Read(name) succeeded.
  absl::Status SetCurrent(const std::string& name) const;

  std::string FolderOf(const std::string& name) const;

 private:
  std::string contexts() const { return folder_ + "/contexts"; }
  std::string current() const { return folder_ + "/current-context"; }

  std::string folder_;
};

// The choice of the coordinator for a command, and of the identity to use
// there. The first of these that is set decides:
//
//   --connect, --context, FROSTLINE_CONNECT, FROSTLINE_CONTEXT,
//   a project's file, the user's file (configuration.h),
//   the current context, 127.0.0.1:7070
//
// A context has its own token and CA, which are sent to no other address; the
// same is true of the user's file. Flags override them; so does the
// environment, unless --context is given. A stranger may have written a
// project's file, so a coordinator that it names gets no credentials from the
// environment.

inline constexpr char kUsualConnect[] = "127.0.0.1:7070";
// The value of Target::why when nothing chose the coordinator.
inline constexpr char kNobodyNames[] = "nothing names another";

// What flags or the environment ask for; an empty text means not set.
struct TargetOptions {
  std::string connect;
  std::string context;
  tls::AccessFiles access;
};

// What a configuration file asks for. `why` is the "FILE:LINE" that names the
// coordinator.
struct ConfiguredTarget {
  TargetOptions options = {};
  std::string why = {};
};

struct ConfiguredTargets {
  ConfiguredTarget project = {};  // its access is ignored
  ConfiguredTarget user = {};
};

// The chosen coordinator, and the identity to use there.
struct Target {
  std::string connect;
  tls::AccessFiles access;
  std::string context;  // its name; empty: no context
  std::string why;      // "by --connect", "the current context"
};

TargetOptions TargetOptionsOfEnvironment();

// Chooses the coordinator. It reads a context only when it needs one, so a
// damaged context does not matter when an address is given. --connect together
// with --context is REQUEST_INVALID.
absl::StatusOr<Target> ChooseTarget(const TargetOptions& flags,
                                    const TargetOptions& environment,
                                    const ContextStore& contexts,
                                    const ConfiguredTargets& files = {});

// Returns "gpu-head.lan:7443, context lab (the current one)".
std::string DescribeTarget(const Target& target);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_CONTEXT_STORE_H_

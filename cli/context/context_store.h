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

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/secret.h"
#include "tls/credentials.h"

namespace frostline::cli {

// Files and folders that are for their user alone. Every error is TLS_FILE.

// Answers nothing when `path` is not there, and an error when it is another
// user's. A link is looked at itself.
absl::StatusOr<std::optional<mode_t>> ModeOf(const std::string& path);

// Refuses a mode that has any of the bits `refused`, and says what to type.
absl::Status CheckMode(const std::string& path, mode_t mode, mode_t refused);

// Makes it with mode 0700, or finds it there.
absl::Status MakeFolder(const std::string& path);

absl::Status Unwritable(const std::string& path, const std::string& why);

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

// Which coordinator a command talks to, and as whom. The first of these that is
// said names it:
//
//   --connect, --context, FROSTLINE_CONNECT, FROSTLINE_CONTEXT,
//   a project's file, the user's file (configuration.h),
//   the current context, 127.0.0.1:7070
//
// A context brings its own token and CA, and they go to no other address; so
// does the user's file. Flags stand before these, and the environment too
// unless --context is given. A project's file may be a stranger's: a
// coordinator that it names gets no credentials of the environment.

inline constexpr char kUsualConnect[] = "127.0.0.1:7070";
// What Target::why is then.
inline constexpr char kNobodyNames[] = "nothing names another";

// What flags say, or the environment; what is empty is not said.
struct Wish {
  std::string connect;
  std::string context;
  tls::AccessFiles access;
};

// The same of a file; `why` is "FILE:LINE" of what names the coordinator.
struct FileWish {
  Wish wish = {};
  std::string why = {};
};

struct FileWishes {
  FileWish project = {};  // its access is not looked at
  FileWish user = {};
};

struct Target {
  std::string connect;
  tls::AccessFiles access;
  std::string context;  // its name; empty: it is of none
  std::string why;      // "by --connect", "the current context"
};

Wish WishOfEnvironment();

// Reads no context where none is needed, so a damaged one hinders nobody who
// names an address. --connect beside --context is REQUEST_INVALID.
absl::StatusOr<Target> ChooseTarget(const Wish& flags, const Wish& environment,
                                    const ContextStore& contexts,
                                    const FileWishes& files = {});

// Says "gpu-head.lan:7443, context lab (the current one)".
std::string DescribeTarget(const Target& target);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_CONTEXT_STORE_H_

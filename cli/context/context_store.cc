// SPDX-License-Identifier: Apache-2.0
#include "cli/context/context_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "cli/client/address.h"
#include "tls/private_file.h"

namespace frostline::cli {

absl::Status Unwritable(const std::string& path, const std::string& why) {
  return MakeError(ErrorId::kTlsFile,
                   absl::StrCat(path, " cannot be written: ", why),
                   "make your folder for settings writable, or name another: "
                   "XDG_CONFIG_HOME=DIR");
}

absl::StatusOr<std::optional<mode_t>> ModeOf(const std::string& path) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return std::optional<mode_t>();
    return MakeError(ErrorId::kTlsFile,
                     absl::StrCat(path, ": ", std::strerror(errno)),
                     "make the folder readable for yourself");
  }
  if (found.st_uid != geteuid()) {
    return MakeError(ErrorId::kTlsFile,
                     absl::StrCat(path, " is another user's"),
                     "run this as its owner, or name a folder of yours: "
                     "XDG_CONFIG_HOME=DIR");
  }
  return std::optional<mode_t>(found.st_mode);
}

absl::Status CheckMode(const std::string& path, mode_t mode, mode_t refused) {
  if ((mode & refused) == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kTlsFile,
      absl::StrCat("others may ", (refused & S_IROTH) != 0 ? "read " : "write ",
                   path, ", which has mode ",
                   absl::StrFormat("%04o", mode & 07777U)),
      absl::StrCat("`chmod ", S_ISDIR(mode) ? "700 " : "600 ", path,
                   "`; a token that others may have read is to be revoked"));
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return Unwritable(path, std::strerror(errno));
}

namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

std::string StoreVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::Status Damaged(const std::string& name, const std::string& cause) {
  return MakeError(ErrorId::kTlsFile,
                   absl::StrCat("context ", name, " is damaged: ", cause),
                   absl::StrCat("`frostline login HOST:PORT --name ", name,
                                "` makes it anew, `frostline logout ", name,
                                "` removes it"));
}

// Checks a file and returns whether it exists.
absl::StatusOr<bool> CheckFile(const std::string& name,
                               const std::string& path) {
  ASSIGN_OR_RETURN(const auto mode, ModeOf(path));
  if (!mode.has_value()) return false;
  if (!S_ISREG(*mode)) return Damaged(name, path + " is no file");
  RETURN_IF_ERROR(CheckMode(path, *mode, kOthers));
  return true;
}

}  // namespace

ContextStore ContextStore::OfUser() {
  // A relative path is none, by the specification of these folders.
  const std::string settings = StoreVariable("XDG_CONFIG_HOME");
  if (absl::StartsWith(settings, "/")) {
    return ContextStore(settings + "/frostline");
  }
  const std::string home = StoreVariable("HOME");
  return ContextStore(absl::StartsWith(home, "/") ? home + "/.config/frostline"
                                                  : "");
}

std::string ContextStore::FolderOf(const std::string& name) const {
  return absl::StrCat(contexts(), "/", name);
}

bool ContextStore::Has(const std::string& name) const {
  struct stat found{};
  return !folder_.empty() && lstat(FolderOf(name).c_str(), &found) == 0;
}

absl::StatusOr<std::vector<std::string>> ContextStore::Names() const {
  std::vector<std::string> names;
  if (folder_.empty()) return names;
  ASSIGN_OR_RETURN(const auto mode, ModeOf(contexts()));
  if (!mode.has_value()) return names;
  if (!S_ISDIR(*mode)) {
    return MakeError(ErrorId::kTlsFile, contexts() + " is no folder",
                     "move it away; `frostline login` makes the folder");
  }
  RETURN_IF_ERROR(CheckMode(contexts(), *mode, kOthersWrite));
  std::error_code error;
  for (fs::directory_iterator at(contexts(), error), end; at != end && !error;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    // What a login that was killed left behind begins with a dot.
    if (!absl::StartsWith(name, ".")) names.push_back(name);
  }
  if (error) {
    return MakeError(ErrorId::kTlsFile,
                     absl::StrCat(contexts(), ": ", error.message()),
                     "make the folder readable for yourself");
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Context> ContextStore::Read(const std::string& name) const {
  ASSIGN_OR_RETURN(const auto names, Names());
  if (!CheckId(name, "").ok() || !Has(name)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("there is no context '", name, "'"),
                     names.empty() ? "`frostline login HOST:PORT` makes one"
                                   : Suggest(name, names));
  }
  Context context{name, "", {}};
  const std::string folder = FolderOf(name);
  ASSIGN_OR_RETURN(const auto mode, ModeOf(folder));
  if (!mode.has_value() || !S_ISDIR(*mode)) {
    return Damaged(name, folder + " is no folder");
  }
  RETURN_IF_ERROR(CheckMode(folder, *mode, kOthers));
  const std::string connect = folder + "/connect";
  ASSIGN_OR_RETURN(const bool has_connect, CheckFile(name, connect));
  if (!has_connect) return Damaged(name, connect + " is missing");
  ASSIGN_OR_RETURN(const std::string text, tls::ReadPublicFile(connect, ""));
  context.connect = std::string(absl::StripAsciiWhitespace(text));
  if (!IsAddress(context.connect)) {
    return Damaged(name, connect + " holds no HOST:PORT");
  }
  context.access.token = folder + "/token";
  ASSIGN_OR_RETURN(const bool has_token, CheckFile(name, context.access.token));
  if (!has_token) return Damaged(name, context.access.token + " is missing");
  ASSIGN_OR_RETURN(const bool has_ca, CheckFile(name, folder + "/ca.crt"));
  if (has_ca) context.access.tls.ca = folder + "/ca.crt";
  return context;
}

absl::Status ContextStore::Keep(const NewContext& made) const {
  if (folder_.empty()) {
    return MakeError(ErrorId::kTlsFile,
                     "there is no folder for contexts: neither HOME nor "
                     "XDG_CONFIG_HOME is set",
                     "set XDG_CONFIG_HOME=DIR, or use --token-file and "
                     "--tls-ca instead");
  }
  RETURN_IF_ERROR(CheckId(made.name, "--name"));
  RETURN_IF_ERROR(Names().status());  // of what is there
  std::error_code error;  // what matters is whether files can be written
  fs::create_directories(fs::path(folder_).parent_path(), error);
  RETURN_IF_ERROR(MakeFolder(folder_));
  RETURN_IF_ERROR(MakeFolder(contexts()));
  const std::string folder = FolderOf(made.name);
  const std::string beside = FolderOf("." + made.name + ".new");
  fs::remove_all(beside, error);  // one that a kill left
  RETURN_IF_ERROR(MakeFolder(beside));
  const auto write = [&beside](const std::string& name,
                               const SecretString& text) {
    return tls::WritePrivateFile(absl::StrCat(beside, "/", name), text,
                                 "--name");
  };
  absl::Status status = write("connect", SecretString(made.connect + "\n"));
  if (status.ok()) {
    status = write("token", SecretString(made.token.Reveal() + "\n"));
  }
  if (status.ok() && !made.ca_pem.empty()) {
    status = write("ca.crt", SecretString(made.ca_pem));
  }
  // One step, where the file system knows it: the old one or the new.
  if (status.ok() && Has(made.name) &&
      renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, folder.c_str(),
                RENAME_EXCHANGE) != 0) {
    fs::remove_all(folder, error);
  }
  if (status.ok() && !Has(made.name) &&
      rename(beside.c_str(), folder.c_str()) != 0) {
    status = Unwritable(folder, std::strerror(errno));
  }
  fs::remove_all(beside, error);
  return status;
}

absl::Status ContextStore::Remove(const std::string& name) const {
  RETURN_IF_ERROR(Names().status());
  if (!CheckId(name, "").ok() || !Has(name)) return Read(name).status();
  const auto current_name = Current();
  if (current_name.ok() && *current_name == name) {
    unlink(current().c_str());
  }
  std::error_code error;
  fs::remove_all(FolderOf(name), error);
  if (Has(name)) return Unwritable(FolderOf(name), error.message());
  return absl::OkStatus();
}

absl::StatusOr<std::string> ContextStore::Current() const {
  if (folder_.empty()) return "";
  ASSIGN_OR_RETURN(const auto mode, ModeOf(current()));
  if (!mode.has_value()) return "";
  RETURN_IF_ERROR(CheckMode(current(), *mode, kOthersWrite));
  ASSIGN_OR_RETURN(const std::string text, tls::ReadPublicFile(current(), ""));
  std::string name(absl::StripAsciiWhitespace(text));
  if (CheckId(name, "").ok()) return name;
  return MakeError(ErrorId::kTlsFile, current() + " names no context",
                   "`frostline context use NAME` writes it anew");
}

absl::Status ContextStore::SetCurrent(const std::string& name) const {
  return tls::WritePrivateFile(current(), SecretString(name + "\n"), "");
}

namespace {

std::string TargetVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Replaces the paths in `files` by those that `over` sets.
void Replace(const tls::AccessFiles& over, tls::AccessFiles* files) {
  const auto replace = [](const std::string& text, std::string* into) {
    if (!text.empty()) *into = text;
  };
  replace(over.token, &files->token);
  replace(over.tls.ca, &files->tls.ca);
  replace(over.tls.certificate, &files->tls.certificate);
  replace(over.tls.key, &files->tls.key);
}

absl::StatusOr<Target> TargetOf(const std::string& name, const std::string& why,
                                const ContextStore& contexts) {
  ASSIGN_OR_RETURN(Context context, contexts.Read(name));
  return Target{context.connect, context.access, context.name, why};
}

bool Names(const TargetOptions& options) {
  return !options.connect.empty() || !options.context.empty();
}

// Returns the coordinator that a file names. REQUIRES: Names(file.options).
absl::StatusOr<Target> TargetOfFile(const ConfiguredTarget& file,
                                    const ContextStore& contexts) {
  if (!file.options.connect.empty()) {
    return Target{file.options.connect, {}, "", file.why};
  }
  return TargetOf(file.options.context, file.why, contexts);
}

// Returns the named coordinator, without credentials from flags and the
// environment.
absl::StatusOr<Target> NamedTarget(const TargetOptions& flags,
                                   const TargetOptions& environment,
                                   const ContextStore& contexts,
                                   const ConfiguredTargets& files) {
  if (!flags.connect.empty()) return Target{flags.connect, {}, "", "--connect"};
  if (!flags.context.empty()) {
    return TargetOf(flags.context, "--context", contexts);
  }
  if (!environment.connect.empty()) {
    return Target{environment.connect, {}, "", "FROSTLINE_CONNECT"};
  }
  if (!environment.context.empty()) {
    return TargetOf(environment.context, "FROSTLINE_CONTEXT", contexts);
  }
  if (Names(files.project.options))
    return TargetOfFile(files.project, contexts);
  if (Names(files.user.options)) {
    ASSIGN_OR_RETURN(Target target, TargetOfFile(files.user, contexts));
    Replace(files.user.options.access, &target.access);
    return target;
  }
  ASSIGN_OR_RETURN(const std::string current, contexts.Current());
  if (current.empty()) {
    return Target{kUsualConnect, {}, "", kNobodyNames};
  }
  if (contexts.Has(current)) {
    return TargetOf(current, "the current one", contexts);
  }
  return MakeError(
      ErrorId::kTlsFile,
      absl::StrCat("the current context, ", current, ", is not there any more"),
      "`frostline context use NAME` chooses another, "
      "`frostline login HOST:PORT` makes one");
}

}  // namespace

TargetOptions TargetOptionsOfEnvironment() {
  TargetOptions options;
  options.connect = TargetVariable("FROSTLINE_CONNECT");
  options.context = TargetVariable("FROSTLINE_CONTEXT");
  options.access.token = TargetVariable("FROSTLINE_TOKEN_FILE");
  options.access.tls.ca = TargetVariable("FROSTLINE_TLS_CA");
  options.access.tls.certificate = TargetVariable("FROSTLINE_TLS_CERT");
  options.access.tls.key = TargetVariable("FROSTLINE_TLS_KEY");
  return options;
}

absl::StatusOr<Target> ChooseTarget(const TargetOptions& flags,
                                    const TargetOptions& environment,
                                    const ContextStore& contexts,
                                    const ConfiguredTargets& files) {
  if (!flags.connect.empty() && !flags.context.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "--connect and --context name a coordinator each",
                     "give one of them", "--context");
  }
  ASSIGN_OR_RETURN(Target target,
                   NamedTarget(flags, environment, contexts, files));
  const bool by_project =
      !Names(flags) && !Names(environment) && Names(files.project.options);
  if (flags.context.empty() && !by_project) {
    Replace(environment.access, &target.access);
  }
  Replace(flags.access, &target.access);
  return target;
}

std::string DescribeTarget(const Target& target) {
  const std::string context =
      target.context.empty() ? "" : ", context " + target.context;
  return absl::StrCat(target.connect, context, " (", target.why, ")");
}

}  // namespace frostline::cli

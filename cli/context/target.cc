// SPDX-License-Identifier: Apache-2.0
#include "cli/context/target.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

std::string TargetVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What is said in `over` replaces what is in `files`.
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

bool Names(const Wish& wish) {
  return !wish.connect.empty() || !wish.context.empty();
}

// REQUIRES: Names(file.wish).
absl::StatusOr<Target> TargetOfFile(const FileWish& file,
                                    const ContextStore& contexts) {
  if (!file.wish.connect.empty()) {
    return Target{file.wish.connect, {}, "", file.why};
  }
  return TargetOf(file.wish.context, file.why, contexts);
}

// Without what flags and the environment say of credentials.
absl::StatusOr<Target> NamedTarget(const Wish& flags, const Wish& environment,
                                   const ContextStore& contexts,
                                   const FileWishes& files) {
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
  if (Names(files.project.wish)) return TargetOfFile(files.project, contexts);
  if (Names(files.user.wish)) {
    ASSIGN_OR_RETURN(Target target, TargetOfFile(files.user, contexts));
    Replace(files.user.wish.access, &target.access);
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

Wish WishOfEnvironment() {
  Wish wish;
  wish.connect = TargetVariable("FROSTLINE_CONNECT");
  wish.context = TargetVariable("FROSTLINE_CONTEXT");
  wish.access.token = TargetVariable("FROSTLINE_TOKEN_FILE");
  wish.access.tls.ca = TargetVariable("FROSTLINE_TLS_CA");
  wish.access.tls.certificate = TargetVariable("FROSTLINE_TLS_CERT");
  wish.access.tls.key = TargetVariable("FROSTLINE_TLS_KEY");
  return wish;
}

absl::StatusOr<Target> ChooseTarget(const Wish& flags, const Wish& environment,
                                    const ContextStore& contexts,
                                    const FileWishes& files) {
  if (!flags.connect.empty() && !flags.context.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "--connect and --context name a coordinator each",
                     "give one of them", "--context");
  }
  ASSIGN_OR_RETURN(Target target,
                   NamedTarget(flags, environment, contexts, files));
  const bool by_project =
      !Names(flags) && !Names(environment) && Names(files.project.wish);
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

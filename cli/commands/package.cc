// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/package.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/process.h"
#include "cli/process/child_process.h"
#include "cli/term/terminal.h"

namespace frostline::cli {
namespace {

// The Python of the console script that became this program, or the user's.
constexpr char kPythonVariable[] = "FROSTLINE_PYTHON";
constexpr char kProgramsVariable[] = "FROSTLINE_BIN_DIR";
// A Python on a cold network drive takes some seconds to start.
constexpr Duration kLongestImport = std::chrono::seconds(30);

constexpr PackageProgram kMcpProgram = {
    "frostline-mcp", "frostline.mcp", "mcp",
    "which speaks the Model Context Protocol"};

bool HasModule(const std::string& python, const std::string& module) {
  const auto ran = RunCaptured(
      {python, "-c",
       absl::StrCat("import importlib.util as u, sys; sys.exit(u.find_spec('",
                    module, "') is None)")},
      kLongestImport);
  return ran.ok() && ran->code == 0;
}

// A program of the package calls `frostline` in turn: this one.
std::vector<std::string> WithOurs(std::vector<std::string> variables) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    variables.push_back(
        absl::StrCat(kProgramsVariable, "=", self.parent_path().string()));
  }
  const std::size_t ours = variables.size();
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string word = *one;
    const std::string name = word.substr(0, word.find('=') + 1);
    bool is_told = false;
    for (std::size_t i = 0; i < ours; ++i) {
      is_told = is_told || absl::StartsWith(variables[i], name);
    }
    if (!is_told) variables.push_back(word);
  }
  return variables;
}

// Returns the program's exit code, or below 0 when there is none.
int RunWords(std::vector<std::string> begin,
             const std::vector<std::string>& words,
             const std::vector<std::string>& variables) {
  begin.insert(begin.end(), words.begin(), words.end());
  std::cout << std::flush;
  const pid_t child =
      StartProcess({.words = std::move(begin), .variables = variables});
  return child < 0 ? -1 : ShellCodeOf(WaitForEnd(child));
}

// `frostline import`: a study of Optuna's as a study here.

struct ImportArgs {
  std::string storage;
  std::string study;
  std::string id;
  std::vector<std::string> modules;
  double others = 0;
};

absl::StatusOr<ExitCode> ImportStudy(Session& session, const ImportArgs& args) {
  ASSIGN_OR_RETURN(const std::vector<std::string> variables,
                   VariablesOfTarget(session));
  std::vector<std::string> words = {args.storage};
  if (!args.study.empty()) words.insert(words.end(), {"--study", args.study});
  if (!args.id.empty()) words.insert(words.end(), {"--as", args.id});
  for (const std::string& one : args.modules) {
    words.insert(words.end(), {"--modules", one});
  }
  if (args.others != 0) {
    words.insert(words.end(), {"--others", absl::StrCat(args.others)});
  }
  return RunOfPackage(kOptunaProgram, words, variables);
}

// `frostline mcp`: the coordinator's studies as tools of an agent.

struct McpArgs {
  int port = 0;
  bool allows_writes = false;
};

absl::StatusOr<ExitCode> ServeMcp(Session& session, const McpArgs& args) {
  ASSIGN_OR_RETURN(const std::vector<std::string> variables,
                   VariablesOfTarget(session));
  std::vector<std::string> words;
  if (args.port != 0) {
    words.insert(words.end(), {"--http", absl::StrCat(args.port)});
  }
  if (args.allows_writes) words.emplace_back("--allow-writes");
  return RunOfPackage(kMcpProgram, words, variables);
}

}  // namespace

absl::StatusOr<ExitCode> RunOfPackage(const PackageProgram& program,
                                      const std::vector<std::string>& words,
                                      std::vector<std::string> variables,
                                      const std::string& otherwise) {
  variables = WithOurs(std::move(variables));
  const char* const named = std::getenv(kPythonVariable);
  const std::string python = named == nullptr ? "" : named;
  int code = -1;
  if (!python.empty() && HasModule(python, program.module)) {
    code = RunWords({python, "-m", program.module}, words, variables);
  }
  if (code < 0) code = RunWords({program.name}, words, variables);
  if (code < 0 && HasModule("python3", program.module)) {
    code = RunWords({"python3", "-m", program.module}, words, variables);
  }
  if (code >= 0) return static_cast<ExitCode>(code);
  return MakeError(
      ErrorId::kTrainerFile,
      absl::StrCat(program.name, ", ", program.does,
                   ", is not on this machine"),
      absl::StrCat("install the Python packages frostline and ", program.needs,
                   ", or name their Python by ", kPythonVariable, otherwise));
}

absl::StatusOr<std::vector<std::string>> VariablesOfTarget(Session& session) {
  RETURN_IF_ERROR(OpenClient(session).status());
  const Target& target = session.target;
  if (!target.access.tls.certificate.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(DescribeTarget(target),
                                  " is shown a client's certificate, which the "
                                  "Python package does not do"),
                     "use a token there: `frostline token create`",
                     "--tls-cert");
  }
  std::vector<std::string> variables = {
      absl::StrCat("FROSTLINE_CONNECT=", target.connect)};
  if (!target.access.token.empty()) {
    variables.push_back(
        absl::StrCat("FROSTLINE_TOKEN_FILE=", target.access.token));
  }
  if (!target.access.tls.ca.empty()) {
    variables.push_back(
        absl::StrCat("FROSTLINE_TLS_CA=", target.access.tls.ca));
  }
  return variables;
}

void AddPackageCommands(CLI::App& app, Invocation& invocation) {
  const auto [import, from] =
      AddVerb(app, "import", "Make a study of one of Optuna's, with its trials",
              invocation, ImportStudy);
  import
      ->add_option("STORAGE", from->storage,
                   "A database or journal file, or a storage's URL")
      ->required();
  import->add_option("--study", from->study, "Where the storage has several")
      ->type_name("NAME");
  import->add_option("--as", from->id, "What it is called here")
      ->type_name("ID");
  import
      ->add_option("--modules", from->modules,
                   "Which parameters are rates of modules: "
                   "'lr_(\\d+)=layer.{}'; may be repeated")
      ->type_name("REGEX=MODULE")
      ->expected(1)
      ->take_all();
  import
      ->add_option("--others", from->others,
                   "The rate of modules that the study did not search [0]")
      ->type_name("RATE")
      ->check(AtLeastZero());
  const auto [mcp, how] =
      AddVerb(app, "mcp", "Serve studies as tools of an agent (MCP)",
              invocation, ServeMcp);
  CLI::Option* const http =
      mcp->add_option("--http", how->port,
                      "Streamable HTTP at http://127.0.0.1:PORT/mcp, which "
                      "only reads; else standard input and output")
          ->type_name("PORT")
          ->check(CLI::Range(1, 65535));
  mcp->add_flag("--allow-writes", how->allows_writes,
                "Also create, enqueue, pause, resume and ask")
      ->excludes(http);
}

}  // namespace frostline::cli

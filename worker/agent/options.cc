// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/ids.h"
#include "base/terminal_log.h"
#include "proto/rules.h"
#include "tls/private_file.h"
#include "worker/registry/registry.h"

namespace frostline::agent {
namespace {

Flag FileFlag(const std::string& name, const std::string& help,
              const std::string& variable, std::string* path) {
  Flag flag = TextFlag(name, "FILE", help, path);
  flag.variable = variable;
  return flag;
}

std::vector<Flag> FileFlags(tls::AccessFiles* files) {
  return {FileFlag("--tls-ca", "Who signed the coordinator's certificate",
                   "FROSTLINE_TLS_CA", &files->tls.ca),
          FileFlag("--tls-cert", "This worker's certificate",
                   "FROSTLINE_TLS_CERT", &files->tls.certificate),
          FileFlag("--tls-key", "Its key, of mode 0600", "FROSTLINE_TLS_KEY",
                   &files->tls.key),
          FileFlag("--token-file", "Holds a token, of mode 0600",
                   "FROSTLINE_TOKEN_FILE", &files->token)};
}

Flag ConnectFlag(AgentOptions* options) {
  Flag flag =
      TextFlag("--connect", "HOST:PORT", "The coordinator", &options->connect);
  flag.variable = "FROSTLINE_CONNECT";
  flag.take = [options, take = flag.take](const std::string& text) {
    options->connect_is_given = true;
    return take(text);
  };
  return flag;
}

Flag JoinFlag(SecretString* join) {
  return {"--join", "LINE|FILE|-",
          "An invitation (`frostline worker invite`), in a file of mode 0600, "
          "on standard input, or itself; for the first start",
          [join](const std::string& text) {
            *join = SecretString(text);
            return absl::OkStatus();
          }};
}

}  // namespace

std::vector<Flag> AccessFlags(bool joins, AgentOptions* options) {
  std::vector<Flag> flags = FileFlags(&options->access);
  flags.insert(flags.begin(), {ConnectFlag(options), JoinFlag(&options->join)});
  if (joins) {
    for (Flag& flag : flags) flag.variable.clear();
  }
  return flags;
}

bool HasJoin(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](const char* word) {
    return absl::StartsWith(word, "--join");
  });
}

absl::Status CheckAccess(const AgentOptions& options) {
  const bool twice = options.connect_is_given || !options.access.tls.empty() ||
                     !options.access.token.empty();
  if (options.join.empty() || !twice) return absl::OkStatus();
  return BadFlag("--join", "says where the coordinator is, and who is trusted",
                 "leave --connect, --tls-… and --token-file away");
}

namespace {

constexpr int kMaxSlotsPerGpu = 64;
constexpr int kMaxGpusPerSlot = 64;
constexpr std::size_t kMaxHostBytes = 48;
constexpr Duration kMaxWait = std::chrono::seconds(10'000'000);
constexpr Duration kYear = std::chrono::hours(24 * 365);

Flag SlotsFlag(AgentOptions* options) {
  return {"--slots", "N|gpu",
          "Trials at a time, each with a trainer of its own; gpu: one for each "
          "GPU",
          [options](const std::string& text) {
            options->slot_per_gpu = text == "gpu";
            if (options->slot_per_gpu) return absl::OkStatus();
            const auto slots = ReadWhole("--slots", text, 1, kMaxSlots);
            if (slots.ok()) options->slots = static_cast<int>(*slots);
            return slots.ok()
                       ? absl::OkStatus()
                       : BadFlag("--slots", absl::StrCat("is '", text, "'"),
                                 absl::StrCat("give a number from 1 to ",
                                              kMaxSlots, ", or gpu"));
          },
          "1"};
}

Flag LabelFlag(AgentOptions* options) {
  Flag flag{
      "--label", "KEY=VALUE", "What studies may ask for; may be repeated", {}};
  flag.repeats = true;
  flag.take = [labels = &options->labels](const std::string& label) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return BadFlag("--label", absl::StrCat("is '", label, "'"),
                     "write it as KEY=VALUE");
    }
    (*labels)[label.substr(0, equals)] = label.substr(equals + 1);
    const int most = proto::MaxItems<v1::Worker>("labels");
    if (std::cmp_less_equal(labels->size(), most)) return absl::OkStatus();
    return BadFlag("--label", "is given too often",
                   absl::StrCat("give at most ", most));
  };
  return flag;
}

Flag KeepFlag(KeepPolicy* policy) {
  return {"--keep", "WHICH",
          "Folders of ended trials that stay: all, useful (failed, or with a "
          "checkpoint), failed, none",
          [policy](const std::string& text) {
            const std::map<std::string, KeepPolicy> policies = {
                {"all", KeepPolicy::kAll},
                {"useful", KeepPolicy::kUseful},
                {"failed", KeepPolicy::kFailed},
                {"none", KeepPolicy::kNone}};
            const auto found = policies.find(text);
            if (found == policies.end()) {
              return BadFlag("--keep", absl::StrCat("is '", text, "'"),
                             "give all, useful, failed or none");
            }
            *policy = found->second;
            return absl::OkStatus();
          },
          "useful"};
}

Flag HookFlag(CheckpointHook* hook) {
  return {"--checkpoint-hook", "FILE",
          "A program that saves checkpoints elsewhere when trials are handed "
          "back, and fetches those that other nodes have saved",
          [hook](const std::string& program) {
            hook->program = program;
            const bool is_path = program.find('/') != std::string::npos;
            if (is_path && access(program.c_str(), X_OK) == 0) {
              return absl::OkStatus();
            }
            return BadFlag(
                "--checkpoint-hook",
                absl::StrCat("is '", program, "', no program that may be run"),
                "give its path, with the folder: /srv/bin/hook; "
                "docs/how-to/spot.md says what it must do");
          }};
}

// A time, or "off", which is zero.
Flag TimeOrOffFlag(const std::string& name, const std::string& help,
                   Duration* time) {
  Flag flag = TimeFlag(name, help, Duration(1), kYear, time);
  flag.take = [time, read = flag.take](const std::string& text) {
    if (text != "off") return read(text);
    *time = Duration::zero();
    return absl::OkStatus();
  };
  return flag;
}

std::vector<Flag> WorkFlags(AgentOptions* options) {
  return {
      TextFlag("--id", "NAME",
               "The worker's name; keep it over restarts to get its own "
               "trials back first; else host name and process number",
               &options->id),
      SlotsFlag(options),
      WholeFlag("--slots-per-gpu", "Trials that may share a GPU", 1,
                kMaxSlotsPerGpu, &options->slots_per_gpu),
      WholeFlag("--gpus-per-slot", "GPUs of one trial", 1, kMaxGpusPerSlot,
                &options->gpus_per_slot),
      SwitchFlag("--fresh-process",
                 "Start another trainer for each trial, so that none inherits "
                 "what the one before leaked",
                 &options->fresh_process),
      TextFlag("--registry", "DIR",
               "Folder of this node's models and data sets (models.yaml, "
               "datasets.yaml); trains with frostline-trainer (default: "
               "registry, where there is one and no --exec)",
               &options->registry),
      TextFlag("--exec", "CMD",
               "Another trainer: its command line, in words as for /bin/sh; "
               "see docs/reference/trainer-protocol.md",
               &options->exec),
      LabelFlag(options),
      TextFlag("--study", "ID", "Only trials of this study", &options->study),
      SwitchFlag("--exit-when-done",
                 "End with 0 when the study of --study has ended",
                 &options->exit_when_done),
      TimeFlag("--idle-timeout",
               "End with 0 after so long without a trial; 0: never",
               Duration::zero(), kMaxWait, &options->idle_timeout),
      LogLevelFlag(&options->log_level),
      LogFormatFlag()};
}

std::vector<Flag> KeepingFlags(AgentOptions* options) {
  return {
      TextFlag("--run-dir", "DIR",
               "Folder for undelivered results and for trials' files",
               &options->run_dir),
      TextFlag("--prefix-dir", "DIR",
               "Folder for what frozen layers gave, shared by this node's "
               "trainers; it tells the texts, so it is closed to others; off: "
               "keep nothing (default: RUN_DIR/prefix)",
               &options->prefix_dir),
      BytesFlag("--prefix-bytes",
                "The most it may hold; 0: a tenth of its file system",
                &options->prefix_bytes),
      KeepFlag(&options->keep.policy),
      BytesFlag("--keep-bytes",
                "Beyond so many bytes of them the oldest go; 0: no bound",
                &options->keep.most_bytes),
      WholeFlag("--keep-trials",
                "Beyond so many of them the oldest go; 0: no bound",
                std::int64_t{0}, std::numeric_limits<std::int64_t>::max(),
                &options->keep.most_trials),
      TimeFlag("--stop-grace",
               "What a trainer gets for a checkpoint when it must stop",
               Duration::zero(), kMaxWait, &options->stop_grace),
      HookFlag(&options->checkpoint_hook),
      TimeFlag("--checkpoint-hook-limit", "Then the hook is killed",
               std::chrono::milliseconds(100), kMaxWait,
               &options->checkpoint_hook.limit),
      TimeOrOffFlag("--hang-after",
                    "A trainer without progress for so long, or ten times its "
                    "usual step, has failed; off: never",
                    &options->hang_after),
      TimeOrOffFlag("--orphan-limit",
                    "Without a coordinator for so long, training is "
                    "checkpointed and waits; off: it goes on",
                    &options->orphan_limit)};
}

// Makes an `exec` of --command.
absl::Status TakeCommand(const std::filesystem::path& programs,
                         AgentOptions* options) {
  const PlainCommand& command = options->command;
  const bool says_nothing = command.text.empty() && command.config.empty() &&
                            command.more.empty() && !command.runs_in_folder;
  if (says_nothing) return absl::OkStatus();
  if (!options->exec.empty()) {
    return BadFlag("--command", "and its flags do not go with --exec",
                   "give --command for a command that knows nothing of trials, "
                   "--exec for a trainer that speaks the protocol");
  }
  if (!command.text.empty() && !command.runs_in_folder) {
    RETURN_IF_ERROR(CheckExec(command.text, "--command"));
  }
  ASSIGN_OR_RETURN(options->exec,
                   TrainerOf(command, programs, options->stop_grace));
  return absl::OkStatus();
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "worker";
  return name.data();
}

}  // namespace

std::string HostWorkerId(const std::string& host) {
  std::string id;
  for (const char c : absl::AsciiStrToLower(host).substr(0, kMaxHostBytes)) {
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      c == '_' || c == '-' ||
                      (c == '.' && !id.empty() && id.back() != '.');
    id += fits ? c : '-';
  }
  if (id.empty() || !absl::ascii_isalnum(static_cast<unsigned char>(id[0]))) {
    id = "w" + id;
  }
  return id;
}

std::string DefaultWorkerId(const std::string& host, int process) {
  return absl::StrCat(HostWorkerId(host), "-", process);
}

absl::StatusOr<AgentOptions> ParseAgentOptions(int argc,
                                               const char* const* argv) {
  AgentOptions options;
  FlagTable program{
      "frostline-worker", FROSTLINE_VERSION,
      "The agent of a node: pulls trials, runs trainers, keeps leases.",
      AccessFlags(HasJoin(argc, argv), &options)};
  for (const auto& flags :
       {WorkFlags(&options), CommandFlags(&options.command),
        KeepingFlags(&options), spans::CollectorFlags(&options.collector)}) {
    program.flags.insert(program.flags.end(), flags.begin(), flags.end());
  }
  ASSIGN_OR_RETURN(options.print, ParseFlags(program, argc, argv));
  if (!options.print.empty()) return options;
  options.wants_log_here = GivesLogFlag(argc, argv);
  RETURN_IF_ERROR(CheckAccess(options));
  RETURN_IF_ERROR(spans::CheckCollector(options.collector));
  const PlainCommand& command = options.command;
  const std::string own = command.text.empty() ? options.exec : command.text;
  RETURN_IF_ERROR(TakeCommand(FolderOfThisProgram(), &options));
  RETURN_IF_ERROR(ChooseTrainer(FolderOfThisProgram(), &options));
  NameTrainer(own, &options);
  options.id_is_given = !options.id.empty();
  options.host_id = HostWorkerId(HostName());
  if (!options.id_is_given) options.id = DefaultWorkerId(HostName(), getpid());
  RETURN_IF_ERROR(CheckId(options.id, "--id"));
  if (!options.study.empty()) {
    RETURN_IF_ERROR(CheckId(options.study, "--study"));
  }
  if (options.gpus_per_slot > 1 && options.slots_per_gpu > 1) {
    return BadFlag("--gpus-per-slot", "does not go with --slots-per-gpu",
                   "give a trial several GPUs, or let trials share one");
  }
  if (options.exit_when_done && options.study.empty()) {
    return BadFlag("--exit-when-done", "needs a study",
                   "name the study to wait for: --study ID");
  }
  return options;
}

namespace {

namespace fs = std::filesystem;

// A word with one of these is for the shell.
constexpr char kForTheShell[] = "|&;<>()$`\\\"'*?[]{}~#=%!\n";
constexpr const char* kOfTheShell[] = {
    ".",    ":",    "alias",  "break", "case",  "cd",     "command", "eval",
    "exec", "exit", "export", "for",   "if",    "return", "set",     "shift",
    "trap", "type", "ulimit", "umask", "unset", "until",  "wait",    "while"};
constexpr const char* kInterpreters[] = {"python", "pypy",    "sh",   "bash",
                                         "dash",   "zsh",     "perl", "ruby",
                                         "node",   "Rscript", "julia"};

// Of workers, and of what a study requires; the coordinator knows it.
constexpr char kTrainerLabel[] = "trainer";
constexpr std::size_t kMaxTrainerName = 256;  // bytes, as of any label

bool IsPlain(const std::string& word) {
  return word.find_first_of(kForTheShell) == std::string::npos;
}

bool IsOfTheShell(const std::string& word) {
  return std::any_of(std::begin(kOfTheShell), std::end(kOfTheShell),
                     [&word](const char* own) { return word == own; });
}

// Says whether the program is an interpreter, also "python3.11".
bool IsInterpreter(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  const std::string bare = name.substr(0, name.find_first_of("0123456789."));
  return std::any_of(std::begin(kInterpreters), std::end(kInterpreters),
                     [&bare](const char* known) { return bare == known; });
}

bool IsFile(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is not there
  return fs::is_regular_file(path, ignored);
}

bool IsOnPath(const std::string& program) {
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> folders =
      absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':');
  for (const std::string& folder : folders) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / program;
    if (IsFile(file) && access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

absl::Status Missing(const std::string& flag, const std::string& cause,
                     const std::string& fix) {
  return BadFlag(flag, absl::StrCat("cannot be run: ", cause), fix);
}

// Returns the fix for a program that is in no folder of PATH.
std::string WhereItIs(const std::string& program) {
  if (IsFile(program)) {
    return absl::StrCat("it is in this folder: ./", program);
  }
  const fs::path beside = FolderOfThisProgram() / program;
  return IsFile(beside)
             ? absl::StrCat("it is beside frostline-worker: ", beside.string())
             : "install it, or give its path";
}

absl::Status CheckProgram(const std::string& program, const std::string& flag) {
  if (program.find('/') == std::string::npos) {
    if (IsOnPath(program)) return absl::OkStatus();
    return Missing(flag,
                   absl::StrCat("there is no program '", program,
                                "' in the folders of PATH"),
                   WhereItIs(program));
  }
  if (!IsFile(program)) {
    return Missing(
        flag,
        absl::StrCat("there is no file ", program, ", looked for from ",
                     fs::current_path().string()),
        "give the right path, best one that begins with /");
  }
  if (access(program.c_str(), X_OK) == 0) return absl::OkStatus();
  return Missing(
      flag, absl::StrCat(program, " may not be executed"),
      absl::StrCat("chmod +x ", program, ", or name its interpreter: \"python ",
                   program, "\""));
}

}  // namespace

absl::Status CheckExec(const std::string& command, const std::string& flag) {
  const std::vector<std::string> words =
      absl::StrSplit(command, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.empty() || !IsPlain(words[0]) || IsOfTheShell(words[0])) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckProgram(words[0], flag));
  const bool has_script = words.size() > 1 && IsInterpreter(words[0]) &&
                          words[1].front() != '-' && IsPlain(words[1]);
  if (!has_script || IsFile(words[1])) return absl::OkStatus();
  return Missing(
      flag,
      absl::StrCat("there is no script ", words[1], ", looked for from ",
                   fs::current_path().string()),
      "give the right path, best one that begins with /");
}

namespace {

// Programs and modules of Python that start another program, with flags of
// their own before it.
constexpr const char* kLaunchers[] = {"torchrun",
                                      "torch.distributed.run",
                                      "torch.distributed.launch",
                                      "accelerate",
                                      "accelerate.commands.launch",
                                      "deepspeed",
                                      "mpirun",
                                      "mpiexec",
                                      "uv",
                                      "conda",
                                      "nice",
                                      "numactl",
                                      "timeout",
                                      "frostline-command"};
constexpr const char* kScripts[] = {".py", ".sh", ".pl", ".rb", ".jl", ".R"};

using Words = std::span<const std::string>;

bool IsLauncher(const std::string& name) {
  return std::ranges::find(kLaunchers, name) != std::end(kLaunchers);
}

bool IsScript(const std::string& word) {
  return std::ranges::any_of(
      kScripts, [&word](const char* suffix) { return word.ends_with(suffix); });
}

std::string NameOfFile(const std::string& path) {
  return fs::path(path).filename().string();
}

// Returns where the program begins that a launcher starts with these words. The
// launcher's own flags cannot be told from their values, so it is known by its
// kind; -m is for a module. Nothing if there is none.
std::optional<Words> LaunchedBy(Words words) {
  for (; !words.empty(); words = words.subspan(1)) {
    const std::string& word = words.front();
    const bool begins = word == "-m" || word == "--module" ||
                        IsInterpreter(word) || IsLauncher(NameOfFile(word)) ||
                        (word.front() != '-' && IsScript(word));
    if (begins) return words;
    if (word == "--") return words.subspan(1);
  }
  return std::nullopt;
}

// Returns the words from an interpreter's script or module on, or from the
// command on that a shell was given.
Words RunBy(Words words, bool is_shell) {
  while (!words.empty() && words.front().front() == '-') {
    const std::string& flag = words.front();
    if (flag == "-c") return is_shell ? words.subspan(1) : Words();
    const bool has_value = flag == "-W" || flag == "-X";
    words =
        words.subspan(std::min<std::size_t>(has_value ? 2 : 1, words.size()));
  }
  return words;
}

std::string NameOf(Words words) {
  const std::string name = NameOfFile(words.front());
  const Words rest = words.subspan(1);
  std::optional<Words> next;
  if (name == "-m" || name == "--module") {
    next = rest;
  } else if (IsInterpreter(name)) {
    next = RunBy(rest, name.ends_with("sh"));
  } else if (IsLauncher(name)) {
    next = LaunchedBy(rest);
  }
  return next.has_value() && !next->empty() ? NameOf(*next) : name;
}

}  // namespace

std::string TrainerNameOf(const std::string& command) {
  const std::vector<std::string> words =
      absl::StrSplit(command, absl::ByAnyChar(" \t'\""), absl::SkipEmpty());
  const auto first = std::ranges::find_if(words, [](const std::string& word) {
    return word != "env" && word != "exec" && !absl::StrContains(word, '=');
  });
  return first == words.end() ? "" : NameOf({first, words.end()});
}

void NameTrainer(const std::string& command, AgentOptions* options) {
  if (command.empty()) return;
  const auto given = options->labels.find(kTrainerLabel);
  if (given != options->labels.end() && given->second.empty()) {
    options->labels.erase(given);  // it serves whatever there is
    return;
  }
  const int most = proto::MaxItems<v1::Worker>("labels");
  const std::string name = TrainerNameOf(command);
  const bool fits = !name.empty() &&
                    std::cmp_less_equal(name.size(), kMaxTrainerName) &&
                    std::cmp_less(options->labels.size(), most);
  if (fits) options->labels.emplace(kTrainerLabel, name);
  options->serves_who_names_it = options->registry.empty() &&
                                 options->study.empty() &&
                                 options->labels.contains(kTrainerLabel);
}

std::string LogFileOf(const AgentOptions& options) {
  return absl::StrCat(options.run_dir, "/worker.log");
}

std::string DescribeService(const AgentOptions& options) {
  if (!options.study.empty()) return "the study " + options.study;
  if (options.serves_who_names_it) {
    return absl::StrCat(
        "studies that say trainer: ", options.labels.at(kTrainerLabel),
        " (others with --study ID)");
  }
  return options.registry.empty()
             ? "any study"
             : "studies whose model and data are in " + options.registry;
}

namespace {

constexpr char kTrainer[] = "frostline-trainer";
constexpr char kUsualRegistry[] = "registry";  // as `frostline init` makes it

absl::Status CheckRegistry(AgentOptions* options) {
  if (options->registry.empty()) return absl::OkStatus();
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(options->registry, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    return BadFlag("--registry",
                   absl::StrCat("is '", options->registry, "', no folder"),
                   "give the folder of datasets.yaml and models.yaml; "
                   "docs/reference/datasets.md says what is in them");
  }
  for (const char* name : {"models.yaml", "datasets.yaml"}) {
    if (std::filesystem::exists(folder / name, error)) continue;
    return BadFlag("--registry",
                   absl::StrCat("has no ", name, ": ", folder.string()),
                   "`frostline registry add model DIR` and `add dataset FILE` "
                   "write both");
  }
  options->registry = folder.string();
  // A registry that is malformed now was written so. One that becomes malformed
  // later is logged, and trials go on (stock.h).
  return registry::ReadRegistry(options->registry).status();
}

}  // namespace

absl::Status ChooseTrainer(const std::filesystem::path& programs,
                           AgentOptions* options) {
  const bool has_exec = !absl::StripAsciiWhitespace(options->exec).empty();
  if (!has_exec && options->registry.empty() &&
      IsFile(fs::path(kUsualRegistry) / registry::kModelsFile)) {
    options->registry = kUsualRegistry;
  }
  RETURN_IF_ERROR(CheckRegistry(options));
  if (!absl::StripAsciiWhitespace(options->exec).empty()) {
    return CheckExec(options->exec);
  }
  if (options->registry.empty()) {
    return BadFlag("--exec", "and --registry are both missing",
                   "give --registry DIR, the folder of this node's models "
                   "and data sets, or your own trainer: --exec \"python "
                   "train.py\"");
  }
  std::error_code error;
  const std::filesystem::path trainer = programs / kTrainer;
  if (!std::filesystem::exists(trainer, error)) {
    return BadFlag("--registry",
                   absl::StrCat("needs ", kTrainer, ", which is not in ",
                                programs.string()),
                   "build it (-DFROSTLINE_PARTS=trainer) and put it beside "
                   "frostline-worker, or name it: --exec /path/to/it; a script "
                   "of yours needs none: --command 'python train.py'");
  }
  options->exec = ShellQuoted(trainer.string());
  return absl::OkStatus();
}

std::filesystem::path FolderOfThisProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

namespace {

constexpr char kFlag[] = "--join";
constexpr std::size_t kLongestLine = 4096;

bool IsPath(const std::string& given) {
  return given.find('/') != std::string::npos ||
         access(given.c_str(), F_OK) == 0;
}

std::string FirstLine(std::istream& input) {
  std::string line;
  for (char c = 0; line.size() < kLongestLine && input.get(c) && c != '\n';) {
    line += c;
  }
  return line;
}

// Overwrites the token: all before the last @, or everything if there is no @.
void Wipe(char* text) {
  if (std::strcmp(text, "-") == 0 || IsPath(text)) return;
  const char* const at = std::strrchr(text, '@');
  const std::size_t size =
      at == nullptr ? std::strlen(text) : static_cast<std::size_t>(at - text);
  std::memset(text, '*', size);
}

}  // namespace

absl::StatusOr<tls::JoinLine> ReadJoinLine(const SecretString& given,
                                           std::istream& input) {
  if (given.Reveal() == "-") return tls::ParseJoinLine(FirstLine(input));
  if (!IsPath(given.Reveal())) return tls::ParseJoinLine(given.Reveal());
  ASSIGN_OR_RETURN(const SecretString text,
                   tls::ReadPrivateFile(given.Reveal(), kFlag));
  return tls::ParseJoinLine(text.Reveal());
}

void HideJoinLine(int argc, char** argv) {
  const std::string_view flag = kFlag;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == flag && i + 1 < argc) Wipe(argv[i + 1]);
    if (word.substr(0, flag.size()) == flag && word.size() > flag.size() &&
        word[flag.size()] == '=') {
      Wipe(argv[i] + flag.size() + 1);
    }
  }
}

}  // namespace frostline::agent

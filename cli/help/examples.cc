// SPDX-License-Identifier: Apache-2.0
#include "cli/help/examples.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace frostline::cli {

ExampleTable ReadExamples(const std::string& text) {
  ExampleTable table;
  std::vector<std::string>* below = nullptr;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "#")) continue;
    if (!absl::StartsWith(line, " ")) {
      below = &table[std::string(line)];
    } else if (below != nullptr) {
      below->emplace_back(absl::StripLeadingAsciiWhitespace(line));
    }
  }
  return table;
}

std::vector<std::string> ExamplesOf(const std::string& path) {
  // Help is asked for once in a run, but man pages ask for all of them.
  static const auto* const table =
      new ExampleTable(ReadExamples(kHelpExamples));
  const auto found = table->find(path);
  return found == table->end() ? std::vector<std::string>() : found->second;
}

namespace {

constexpr char kExitCodes[] =
    "Exit codes, the same for every Frostline program:\n"
    "    0  ok\n"
    "    1  failure\n"
    "    2  usage: a wrong command, option or argument\n"
    "    3  not found\n"
    "    4  not allowed\n"
    "    5  conflict: another state, or somebody was faster\n"
    "    6  timed out\n"
    "    7  the coordinator cannot be reached; trying again may help\n"
    "    8  the study ended without a result\n"
    "   75  preempted: run me again\n"
    "  100  a study file or a registry has mistakes\n"
    "  130  interrupted by Ctrl-C\n";

constexpr char kEnvironment[] =
    "Environment:\n"
    "  FROSTLINE_CONNECT  HOST:PORT of the coordinator, for --connect\n"
    "  FROSTLINE_CONTEXT  a context of `frostline login`, for --context\n"
    "  FROSTLINE_TOKEN_FILE, FROSTLINE_TLS_CA, FROSTLINE_TLS_CERT,\n"
    "  FROSTLINE_TLS_KEY  files, for --token-file, --tls-ca, …\n"
    "  FROSTLINE_REGISTRY DIR of models.yaml and datasets.yaml, for "
    "--registry\n"
    "  XDG_CONFIG_HOME    where contexts and settings are kept; ~/.config\n"
    "                     (`frostline config view` says what holds, and "
    "why)\n"
    "  FROSTLINE_CORE_DUMPS  1: programs may dump core, secrets and all\n"
    "  FROSTLINE_PAGER    for what is taller than the terminal, before PAGER;\n"
    "                     empty: none, as --no-pager\n"
    "  NO_COLOR           no colours, as --no-color\n";

constexpr char kFormats[] =
    "What --format takes, where a command answers with data:\n"
    "  table  columns that fit the terminal\n"
    "  wide   all columns\n"
    "  json   the API's message, indented; --json is short for it\n"
    "  jsonl  one object a line\n"
    "  yaml   the same message\n"
    "  csv    all columns, exact numbers\n"
    "  name   names alone, one a line, for other commands\n"
    "Data goes to standard output, all else to standard error.\n";

constexpr char kFilter[] =
    "What --filter takes: terms joined by AND, each FIELD OPERATOR VALUE.\n"
    "Of trials:\n"
    "  accuracy > 0.93         a metric that the study is judged by\n"
    "  metrics.loss < 0.3      any metric\n"
    "  embeddings = 0          a parameter; 0 is frozen, and may be written "
    "so\n"
    "  parameters.layer.0 > 0  the same of a name that is a metric's too\n"
    "  values[0] >= 0.9        the first objective, as numbered from 0\n"
    "  state = SUCCEEDED       QUEUED, RUNNING, PRUNED, FAILED, …\n"
    "  origin = SAMPLED        ENQUEUED, IMPORTED, …\n"
    "  number < 10, attempt > 1, worker = workers/gpu03\n"
    "  labels.kind = \"base\"    a label; quotes where a value has blanks\n"
    "Of studies: state = ACTIVE, labels.team = nlp.\n"
    "Text is compared by = and !=, numbers also by < <= > >=. Quote the whole\n"
    "for the shell: --filter 'state = SUCCEEDED AND accuracy > 0.93'\n";

constexpr char kStudyFile[] =
    "A study file says what to search. This one is whole:\n"
    "\n"
    "  id: imdb\n"
    "  model: {id: minilm, layers: 6}\n"
    "  data: {id: reviews, task: classification}\n"
    "  maximize: accuracy\n"
    "  budget: 100\n"
    "  space:\n"
    "    modules:\n"
    "      embeddings: [0, 2e-5, 1e-4]\n"
    "      \"layer.*\": [0, 2e-5, 1e-4]\n"
    "      pooler: 1e-4\n"
    "      head: 1e-3\n"
    "\n"
    "0 freezes a module. `frostline study create FILE --dry-run` checks a "
    "file\n"
    "and creates nothing. All keys: docs/reference/study-file.md\n";

constexpr char kConfiguration[] =
    "Which coordinator a command asks; the first that is said counts:\n"
    "  1  flags: --connect, --context\n"
    "  2  the environment: FROSTLINE_CONNECT, FROSTLINE_CONTEXT\n"
    "  3  the current context, of `frostline login` or `frostline context "
    "use`\n"
    "  4  127.0.0.1:7070\n"
    "`frostline status` says which it was, and why.\n";

struct Topic {
  const char* name;
  const char* text;
};
constexpr std::array kTopics = {
    Topic{"exit-codes", kExitCodes}, Topic{"environment", kEnvironment},
    Topic{"filter", kFilter},        Topic{"formats", kFormats},
    Topic{"study-file", kStudyFile}, Topic{"configuration", kConfiguration}};

}  // namespace

std::vector<std::string> TopicNames() {
  std::vector<std::string> names;
  names.reserve(kTopics.size());
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

std::string TopicText(const std::string& name) {
  for (const Topic& topic : kTopics) {
    if (name == topic.name) return topic.text;
  }
  return "";
}

}  // namespace frostline::cli

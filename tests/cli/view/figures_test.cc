// SPDX-License-Identifier: Apache-2.0
//
// Figures as text against the cases of figures.txt, which the page reads, too.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using Words = std::vector<std::string>;

double NumberOf(const std::string& word) {
  double value = 0.0;
  EXPECT_TRUE(absl::SimpleAtod(word, &value)) << word;
  return value;
}

std::int64_t IntegerOf(const std::string& word) {
  std::int64_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(word, &value)) << word;
  return value;
}

v1::Interval IntervalOf(const Words& words) {
  v1::Interval interval;
  interval.set_value(NumberOf(words.at(0)));
  interval.set_lo80(NumberOf(words.at(1)));
  interval.set_hi80(NumberOf(words.at(2)));
  return interval;
}

std::string DirectionOf(const Words& words) {
  v1::ParameterImportance importance;
  importance.set_direction(NumberOf(words.at(0)));
  importance.set_direction_probability(NumberOf(words.at(1)));
  return DirectionText(importance);
}

std::string TimeOf(const Words& words) {
  google::protobuf::Timestamp time;
  time.set_seconds(IntegerOf(words.at(0)));
  return FormatTime(time);
}

using Writer = std::function<std::string(const Words&)>;

// Returns a writer of one number.
Writer Of(std::string (*write)(double)) {
  return [write](const Words& words) { return write(NumberOf(words.at(0))); };
}
Writer Of(std::string (*write)(std::int64_t)) {
  return [write](const Words& words) { return write(IntegerOf(words.at(0))); };
}
Writer Of(std::string (*write)(const v1::Interval&)) {
  return [write](const Words& words) { return write(IntervalOf(words)); };
}

TEST(Figures, AreWrittenAsTheCasesSay) {
  const std::map<std::string, Writer> writers = {
      {"number", Of(FormatNumber)},
      {"rate", Of(FormatRate)},
      {"count", Of(FormatCount)},
      {"count_or_dash", Of(CountOrDash)},
      {"seconds", Of(FormatSeconds)},
      {"bytes", Of(FormatBytes)},
      {"percent", Of(Percent)},
      {"probability", Of(Probability)},
      {"percent_interval", Of(PercentInterval)},
      {"number_interval", Of(NumberInterval)},
      {"with_interval", Of(WithInterval)},
      {"tau", Of(TauText)},
      {"direction", DirectionOf},
      {"time", TimeOf},
      {"last_part", [](const Words& words) { return LastPart(words.at(0)); }},
      {"modules", ModuleList}};
  std::ifstream file(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                     "/tests/cli/view/figures.txt");
  std::set<std::string> seen;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    Words parts = absl::StrSplit(line, '|');
    ASSERT_EQ(parts.size(), 3U) << line;
    for (std::string& part : parts) absl::StripAsciiWhitespace(&part);
    const auto writer = writers.find(parts[0]);
    ASSERT_NE(writer, writers.end()) << line;
    const Words words = absl::StrSplit(parts[1], ' ', absl::SkipEmpty());
    EXPECT_EQ(writer->second(words), parts[2]) << line;
    seen.insert(parts[0]);
  }
  EXPECT_EQ(seen.size(), writers.size());
}

}  // namespace
}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "statistics/scores/scores.h"

namespace frostline::statistics {
namespace {

constexpr std::string_view kPrefixes = "BIESLU";

struct Tag {
  char prefix = 'O';
  std::string_view type;
};

Tag Parse(std::string_view tag) {
  if (tag.empty() || tag == "O") return {};
  if (tag.size() == 1) return {tag.front(), ""};
  return {tag.front(), tag.substr(tag[1] == '-' ? 2 : 1)};
}

// The tag stands alone or at the beginning of a span, whatever was before it.
bool Begins(char prefix) {
  return prefix == 'B' || prefix == 'S' || prefix == 'U';
}
// Nothing behind it belongs to its span.
bool Ends(char prefix) {
  return prefix == 'E' || prefix == 'S' || prefix == 'L' || prefix == 'U';
}

double SpanRatio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<TagSpan> SpansOf(std::span<const std::string_view> tags) {
  std::vector<TagSpan> spans;
  bool open = false;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const Tag tag = Parse(tags[i]);
    const bool goes_on = open && tag.prefix != 'O' && !Begins(tag.prefix) &&
                         tag.type == spans.back().type;
    if (open && goes_on) {
      spans.back().end = i + 1;
    } else if (tag.prefix != 'O') {
      spans.push_back({i, i + 1, tag.type});
    }
    open = tag.prefix != 'O' && !Ends(tag.prefix);
  }
  return spans;
}

bool MarkSpans(const std::vector<std::string>& labels) {
  bool any = false;
  for (const std::string& label : labels) {
    if (label == "O") continue;
    const bool marks = label.size() > 2 && label[1] == '-' &&
                       kPrefixes.find(label[0]) != std::string_view::npos;
    if (!marks) return false;
    any = true;
  }
  return any;
}

void SpanF1::Add(std::span<const std::int32_t> truth,
                 std::span<const std::int32_t> prediction) {
  std::vector<std::string_view> wanted;
  std::vector<std::string_view> got;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) continue;
    wanted.push_back(labels_[static_cast<std::size_t>(truth[i])]);
    got.push_back(prediction[i] < 0
                      ? std::string_view("O")
                      : labels_[static_cast<std::size_t>(prediction[i])]);
  }
  const std::vector<TagSpan> wanted_spans = SpansOf(wanted);
  const std::vector<TagSpan> got_spans = SpansOf(got);
  std::vector<TagSpan> both;
  std::set_intersection(wanted_spans.begin(), wanted_spans.end(),
                        got_spans.begin(), got_spans.end(),
                        std::back_inserter(both));
  counts_.AddTimes({both.size(), wanted_spans.size(), got_spans.size()}, 1);
}

double SpanCounts::Precision() const { return SpanRatio(right, predicted); }
double SpanCounts::Recall() const { return SpanRatio(right, truth); }
double SpanCounts::F1() const {
  return SpanRatio(2 * right, truth + predicted);
}

void SpanCounts::AddTimes(const SpanCounts& counts, std::uint64_t times) {
  right += counts.right * times;
  truth += counts.truth * times;
  predicted += counts.predicted * times;
}

}  // namespace frostline::statistics

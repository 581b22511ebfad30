// SPDX-License-Identifier: Apache-2.0
#include "statistics/scores/scores.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace frostline::statistics {
namespace {

double Ratio(double part, double whole) {
  return whole == 0.0 ? 0.0 : part / whole;
}

}  // namespace

Confusion::Confusion(std::size_t classes)
    // Class 1 is asked for by name, even of a set that has one class.
    : right_(std::max<std::size_t>(classes, 2)),
      truth_(right_.size()),
      predicted_(right_.size()) {}

void Confusion::Add(std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> prediction) {
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] >= 0) AddTimes(truth[i], prediction[i], 1);
  }
}

void Confusion::AddTimes(std::int32_t truth, std::int32_t prediction,
                         std::uint64_t times) {
  const auto wanted = static_cast<std::size_t>(truth);
  total_ += times;
  truth_[wanted] += times;
  if (prediction < 0) {
    unpredicted_ += times;
    return;
  }
  const auto got = static_cast<std::size_t>(prediction);
  predicted_[got] += times;
  if (wanted == got) right_[wanted] += times;
}

void Confusion::Clear() {
  total_ = 0;
  unpredicted_ = 0;
  std::fill(right_.begin(), right_.end(), 0);
  std::fill(truth_.begin(), truth_.end(), 0);
  std::fill(predicted_.begin(), predicted_.end(), 0);
}

std::size_t Confusion::CountUnseen(std::size_t classes) const {
  const auto end = truth_.begin() + static_cast<std::ptrdiff_t>(classes);
  return static_cast<std::size_t>(
      std::count(truth_.begin(), end, std::uint64_t{0}));
}

double Confusion::Accuracy() const {
  const auto right =
      std::accumulate(right_.begin(), right_.end(), std::uint64_t{0});
  return Ratio(static_cast<double>(right), static_cast<double>(total_));
}

double Confusion::MicroF1() const { return Accuracy(); }

double Confusion::ClassF1(std::size_t c) const {
  return Ratio(2.0 * static_cast<double>(right_[c]),
               static_cast<double>(truth_[c] + predicted_[c]));
}

double Confusion::ClassPrecision(std::size_t c) const {
  return Ratio(static_cast<double>(right_[c]),
               static_cast<double>(predicted_[c]));
}

double Confusion::ClassRecall(std::size_t c) const {
  return Ratio(static_cast<double>(right_[c]), static_cast<double>(truth_[c]));
}

double Confusion::MacroF1() const {
  double sum = 0.0;
  double classes = 0.0;
  for (std::size_t c = 0; c < right_.size(); ++c) {
    if (truth_[c] + predicted_[c] == 0) continue;
    sum += ClassF1(c);
    classes += 1.0;
  }
  return Ratio(sum, classes);
}

double Confusion::Matthews() const {
  // In long double: the products pass 2^53 from a hundred million words on.
  const auto total = static_cast<long double>(total_);
  long double right = 0;
  long double both = 0;
  long double truth_squares = 0;
  // What has no prediction is of a class of its own.
  const auto none = static_cast<long double>(unpredicted_);
  long double predicted_squares = none * none;
  for (std::size_t c = 0; c < right_.size(); ++c) {
    const auto t = static_cast<long double>(truth_[c]);
    const auto p = static_cast<long double>(predicted_[c]);
    right += static_cast<long double>(right_[c]);
    both += t * p;
    truth_squares += t * t;
    predicted_squares += p * p;
  }
  const long double squares = total * total;
  const long double below =
      std::sqrt((squares - predicted_squares) * (squares - truth_squares));
  return Ratio(static_cast<double>(right * total - both),
               static_cast<double>(below));
}

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

namespace {

double CountAt(Times times, std::size_t i) {
  return times.empty() ? 1.0 : static_cast<double>(times[i]);
}

double Count(std::span<const double> numbers, Times times) {
  return times.empty() ? static_cast<double>(numbers.size())
                       : static_cast<double>(std::accumulate(
                             times.begin(), times.end(), std::uint64_t{0}));
}

double Mean(std::span<const double> numbers, Times times, double count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (times.empty() || times[i] > 0) sum += CountAt(times, i) * numbers[i];
  }
  return sum / count;
}

bool AllFinite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return std::isfinite(number); });
}

bool Constant(std::span<const double> numbers, Times times) {
  std::optional<double> first;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!times.empty() && times[i] == 0) continue;
    if (!first.has_value()) first = numbers[i];
    if (numbers[i] != *first) return false;
  }
  return true;
}

std::vector<std::size_t> RisingOrder(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return numbers[a] < numbers[b];
  });
  return order;
}

// From 1, with equal numbers at the mean of their places.
std::vector<double> Ranks(std::span<const double> numbers,
                          const std::vector<std::size_t>& order, Times times) {
  std::vector<double> ranks(numbers.size());
  double before = 0.0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double equal = 0.0;
    for (end = begin; end < order.size(); ++end) {
      if (numbers[order[end]] != numbers[order[begin]]) break;
      equal += CountAt(times, order[end]);
    }
    const double rank = before + (1.0 + equal) / 2.0;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    before += equal;
  }
  return ranks;
}

}  // namespace

std::optional<double> MeanSquaredError(std::span<const double> truth,
                                       std::span<const double> prediction,
                                       Times times) {
  const double count = Count(truth, times);
  if (count == 0.0) return std::nullopt;
  double sum = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = truth[i] - prediction[i];
    sum += CountAt(times, i) * (error * error);
  }
  return sum / count;
}

std::optional<double> Pearson(std::span<const double> truth,
                              std::span<const double> prediction, Times times) {
  const double count = Count(truth, times);
  if (count < 2.0) return std::nullopt;
  if (!AllFinite(truth) || !AllFinite(prediction)) return std::nullopt;
  if (Constant(truth, times) || Constant(prediction, times)) {
    return std::nullopt;
  }
  const double truth_mean = Mean(truth, times, count);
  const double prediction_mean = Mean(prediction, times, count);
  double both = 0.0;
  double truth_squares = 0.0;
  double prediction_squares = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double a = truth[i] - truth_mean;
    const double b = prediction[i] - prediction_mean;
    const double often = CountAt(times, i);
    both += often * (a * b);
    truth_squares += often * (a * a);
    prediction_squares += often * (b * b);
  }
  // Two roots: the product of two sums may be too small for a double.
  const double below = std::sqrt(truth_squares) * std::sqrt(prediction_squares);
  if (below == 0.0 || !std::isfinite(below)) return std::nullopt;
  return std::clamp(both / below, -1.0, 1.0);
}

std::optional<double> Spearman(std::span<const double> truth,
                               std::span<const double> prediction) {
  return ResampledSpearman(truth, prediction).At({});
}

ResampledSpearman::ResampledSpearman(std::span<const double> truth,
                                     std::span<const double> prediction)
    : truth_(truth),
      prediction_(prediction),
      finite_(AllFinite(truth) && AllFinite(prediction)) {
  // Without an order of numbers that are none.
  if (!finite_) return;
  truth_order_ = RisingOrder(truth);
  prediction_order_ = RisingOrder(prediction);
}

std::optional<double> ResampledSpearman::At(Times times) const {
  if (!finite_) return std::nullopt;
  return Pearson(Ranks(truth_, truth_order_, times),
                 Ranks(prediction_, prediction_order_, times), times);
}

}  // namespace frostline::statistics

// SPDX-License-Identifier: Apache-2.0
//
// File: figures.h
//
// What a recording says beside what we computed, and how near is near enough.
#ifndef FROSTLINE_TESTS_PARITY_FIGURES_FIGURES_H_
#define FROSTLINE_TESTS_PARITY_FIGURES_FIGURES_H_

#include <array>
#include <string>
#include <vector>

namespace frostline::test {

// Figures of one kind share a limit and a line of a report.
enum class FigureKind {
  kForward,   // logits, hidden states, losses of a model
  kBf16,      // logits in bf16, as a share of the largest, at least of 1
  kFp16,      // the same in fp16
  kTf32,      // the same with TF32 products, where the device has them
  kGradient,  // of single weights
  kNorm,      // of all gradients
  kStep,      // losses and norms while training, losses afterwards
  kWeight,    // after training, and how far they went
  kFactor,    // of a schedule
  kExact,     // must be the same: 1 where it is so
};
inline constexpr std::array kFigureKinds = {
    FigureKind::kForward, FigureKind::kBf16,     FigureKind::kFp16,
    FigureKind::kTf32,    FigureKind::kGradient, FigureKind::kNorm,
    FigureKind::kStep,    FigureKind::kWeight,   FigureKind::kFactor,
    FigureKind::kExact};

// "gradients"
const char* NameOf(FigureKind kind);

struct Figure {
  FigureKind kind;
  std::string what;
  double expected;
  double actual;
};
using Figures = std::vector<Figure>;

// |actual - expected| / max(1, |expected|). 0 for equal infinities and for two
// NaNs, NaN where one of them is.
double Off(double expected, double actual);

// The same for a figure that must hold on every device, where norms and weights
// are not divided: sums over many numbers are large while each is near.
double OffOnDevice(const Figure& figure);

// The figure of a kind that is furthest off on a device, a NaN further than all
// others; null when there is none of that kind.
const Figure* Furthest(const Figures& figures, FigureKind kind);

// How far off a figure may be: of a processor, unless other limits are given.
struct Limits {
  double forward = 1e-5;
  double backward = 1e-4;  // gradients, and everything after training steps
  double bf16 = 2e-2;      // of fp16 and TF32, three bits more, a quarter
  double factor = 1e-12;

  double Of(FigureKind kind) const;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_FIGURES_FIGURES_H_

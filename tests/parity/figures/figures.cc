// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/figures/figures.h"

#include <algorithm>
#include <cmath>

namespace frostline::test {

const char* NameOf(FigureKind kind) {
  switch (kind) {
    case FigureKind::kForward:
      return "logits, states, losses";
    case FigureKind::kBf16:
      return "logits in bf16";
    case FigureKind::kFp16:
      return "logits in fp16";
    case FigureKind::kTf32:
      return "logits with TF32";
    case FigureKind::kGradient:
      return "gradients";
    case FigureKind::kNorm:
      return "norm of the gradients";
    case FigureKind::kStep:
      return "losses and norms";
    case FigureKind::kWeight:
      return "weights";
    case FigureKind::kFactor:
      return "factors of the schedule";
    case FigureKind::kExact:
      break;
  }
  return "what must be the same";
}

double Off(double expected, double actual) {
  if (expected == actual) return 0.0;
  if (std::isnan(expected) && std::isnan(actual)) return 0.0;
  return std::abs(actual - expected) / std::max(1.0, std::abs(expected));
}

double OffOnDevice(const Figure& figure) {
  const bool whole =
      figure.kind == FigureKind::kNorm || figure.kind == FigureKind::kWeight;
  return whole ? std::abs(figure.actual - figure.expected)
               : Off(figure.expected, figure.actual);
}

const Figure* Furthest(const Figures& figures, FigureKind kind) {
  const Figure* furthest = nullptr;
  double off = -1.0;
  for (const Figure& each : figures) {
    if (each.kind != kind) continue;
    const double its = OffOnDevice(each);
    if (its <= off || std::isnan(off)) continue;
    off = its;
    furthest = &each;
  }
  return furthest;
}

double Limits::Of(FigureKind kind) const {
  switch (kind) {
    case FigureKind::kForward:
      return forward;
    case FigureKind::kBf16:
      return bf16;
    case FigureKind::kFp16:
    case FigureKind::kTf32:
      return bf16 / 4.0;
    case FigureKind::kGradient:
    case FigureKind::kNorm:
    case FigureKind::kStep:
    case FigureKind::kWeight:
      return backward;
    case FigureKind::kFactor:
      return factor;
    case FigureKind::kExact:
      break;
  }
  return 0.0;
}

}  // namespace frostline::test

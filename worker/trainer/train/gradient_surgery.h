// SPDX-License-Identifier: Apache-2.0
//
// File: gradient_surgery.h
//
// What becomes of the gradients g of several tasks where two of them point
// against each other, g . h < 0: one loses its part along the other,
// g - (g . h / h . h) h. Then all are summed.
//
//   dominant  all others to the longest one
//   pcgrad    each to each other, as it was, in a random order (Yu et al.,
//             2020, Gradient Surgery for Multi-Task Learning, algorithm 1)
//
// The sum is one of the tasks' gradients with other weights, and those follow
// from inner products alone:
//   dominant, (1, 0) and (-2, 1): the second stays, the first becomes (.2, .4):
//   weights 1 and 1 + 2 / 5.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENT_SURGERY_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENT_SURGERY_H_

#include <cstdint>
#include <vector>

namespace frostline::trainer {

enum class Surgery : std::uint8_t { kNone, kDominant, kPcGrad };

// [i][j] is the inner product of the gradients of tasks i and j.
using InnerProducts = std::vector<std::vector<double>>;

// Whose turn comes when: a function of (seed, step).
struct SurgeryChance {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

struct Mixture {
  std::vector<double> weights;  // by task
  bool conflict = false;        // two pointed against each other
};

Mixture MixGradients(Surgery surgery, const InnerProducts& products,
                     const SurgeryChance& chance);

// The other tasks, in the order in which `task` gives way to them.
std::vector<std::size_t> OthersInTurn(std::size_t task, std::size_t tasks,
                                      const SurgeryChance& chance);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENT_SURGERY_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: torch.h
//
// We include single operators of ATen, because all of torch/torch.h costs every
// file half a minute to compile.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_TORCH_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_TORCH_H_

// Without it ATen's arithmetic operators bring in all functions.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/plain/result.h"

namespace frostline::trainer {

// Returns the exception as a fault. It keeps the first line; the rest is a
// stack.
inline Fault TorchFault(const std::exception& error) {
  const std::string text = error.what();
  const auto says = [&](const char* words) {
    return text.find(words) != std::string::npos;
  };
  // cuBLAS, cuDNN and several allocators have words of their own. oneDNN makes
  // a primitive after it has found that it can compute what is asked; then only
  // memory can be missing.
  const bool of_onednn =
      says("could not create a memory") || says("could not execute") ||
      (says("could not create a primitive") && !says("primitive descriptor"));
  const bool memory =
      dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      says("out of memory") || says("allocate memory") ||
      says("_ALLOC_FAILED") || of_onednn;
  return {memory ? FaultKind::kOutOfMemory : FaultKind::kInternal,
          "LibTorch: " + text.substr(0, text.find('\n')),
          memory ? "train with smaller batches or shorter texts"
                 : "report this with the study file: it is a mistake of ours"};
}

// Runs `work`, which returns an Expected, and returns what LibTorch throws as a
// fault.
template <typename Work>
auto CatchTorch(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    return TorchFault(error);
  }
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_TORCH_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: product_log.h
//
// What LibTorch multiplied while this object lived, on this thread: two
// operations for each pair of numbers, of all matrix products and of its own
// attention. Whoever includes it is compiled as LibTorch is (NDEBUG).
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_FREEZE_PRODUCT_LOG_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_FREEZE_PRODUCT_LOG_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace frostline::trainer {

class ProductLog {
 public:
  ProductLog() {
    flops_ = 0.0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&Note).needsInputs(true).scopes(
            {at::RecordScope::FUNCTION}));
  }
  ~ProductLog() { at::removeCallback(handle_); }
  ProductLog(const ProductLog&) = delete;
  ProductLog& operator=(const ProductLog&) = delete;

  double flops() const { return flops_; }

 private:
  static at::Tensor Input(const at::RecordFunction& call, std::size_t at) {
    return call.inputs()[at].toTensor();
  }

  // Returns the operations of the product of [..., M, K] with something of N
  // columns.
  static double Product(const at::Tensor& left, std::int64_t columns) {
    return 2.0 * static_cast<double>(left.numel()) *
           static_cast<double>(columns);
  }

  // Operators that others are made of; linear and matmul are not among them.
  static std::unique_ptr<at::ObserverContext> Note(
      const at::RecordFunction& call) {
    constexpr std::string_view kAttention =
        "aten::_scaled_dot_product_flash_attention_for_cpu";
    const std::string_view name = call.name();
    if (name == "aten::mm" || name == "aten::bmm") {
      flops_ += Product(Input(call, 0), Input(call, 1).size(-1));
    } else if (name == "aten::addmm" || name == "aten::baddbmm") {
      flops_ += Product(Input(call, 1), Input(call, 2).size(-1));
    } else if (name == "aten::addmv" || name == "aten::mv" ||
               name == "aten::dot") {
      flops_ += Product(Input(call, name == "aten::addmv" ? 1 : 0), 1);
    } else if (name == kAttention) {  // of query and key: two products
      flops_ += 2.0 * Product(Input(call, 0), Input(call, 1).size(2));
    } else if (name.starts_with(kAttention)) {
      // Backward it gives the gradients of all three, which are four products,
      // and multiplies query and key once more, which is left out.
      flops_ += 4.0 * Product(Input(call, 1), Input(call, 2).size(2));
    }
    return nullptr;
  }

  static inline thread_local double flops_ = 0.0;

  at::CallbackHandle handle_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_FREEZE_PRODUCT_LOG_H_

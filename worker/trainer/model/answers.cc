// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/answers.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace frostline::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::ScalarType ProductType(const at::Tensor& read) {
  const c10::DeviceType device = read.device().type();
  return at::autocast::is_autocast_enabled(device)
             ? at::autocast::get_autocast_dtype(device)
             : at::kFloat;
}

// Calls `work(first, count)` for some tokens at a time.
template <typename Work>
void ForSome(std::int64_t tokens, std::int64_t vocabulary,
             std::int64_t most_products, Work work) {
  const std::int64_t some =
      std::max<std::int64_t>(1, most_products / vocabulary);
  for (std::int64_t first = 0; first < tokens; first += some) {
    work(first, std::min(some, tokens - first));
  }
}

class Likelihood : public torch::autograd::Function<Likelihood> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& read,
                            const at::Tensor& table, const at::Tensor& next,
                            std::int64_t most_products) {
    const at::ScalarType type = ProductType(read);
    const at::Tensor rows = table.to(type);
    const at::Tensor inputs = read.to(type);
    const std::int64_t tokens = read.size(0);
    const at::Tensor said =
        at::empty({tokens, 2}, read.options().dtype(at::kFloat));
    const at::Tensor sums = at::empty({tokens}, said.options());
    ForSome(tokens, table.size(0), most_products,
            [&](std::int64_t first, std::int64_t count) {
              const at::Tensor products =
                  at::matmul(inputs.narrow(0, first, count), rows.t())
                      .to(at::kFloat);  // [count, V]
              const at::Tensor wanted = next.narrow(0, first, count);
              const at::Tensor own =
                  products.gather(1, wanted.unsqueeze(1)).squeeze(1);
              const at::Tensor sum = products.logsumexp(1);
              sums.narrow(0, first, count).copy_(sum);
              said.select(1, 0).narrow(0, first, count).copy_(own - sum);
              said.select(1, 1)
                  .narrow(0, first, count)
                  .copy_(own - products.amax(1));
            });
    context->save_for_backward({read, table, next, sums});
    context->saved_data["most_products"] = most_products;
    context->saved_data["type"] = static_cast<std::int64_t>(type);
    return said;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& read = saved[0];
    const at::Tensor& table = saved[1];
    const at::Tensor& next = saved[2];
    const auto type =
        static_cast<at::ScalarType>(context->saved_data["type"].toInt());
    const at::Tensor rows = table.to(type);
    const at::Tensor inputs = read.to(type);
    const at::Tensor given = gradients[0].select(1, 0);  // [P]
    at::Tensor of_read;
    at::Tensor of_table;
    if (context->needs_input_grad(0)) {
      of_read = at::empty(read.sizes(), given.options());
    }
    if (context->needs_input_grad(1)) {
      of_table = at::zeros(table.sizes(), given.options());
    }
    ForSome(
        read.size(0), table.size(0),
        context->saved_data["most_products"].toInt(),
        [&](std::int64_t first, std::int64_t count) {
          const at::Tensor some = inputs.narrow(0, first, count);
          const at::Tensor weight =
              given.narrow(0, first, count).unsqueeze(1);  // [count, 1]
          at::Tensor products =
              at::matmul(some, rows.t()).to(at::kFloat);  // [count, V]
          products.sub_(saved[3].narrow(0, first, count).unsqueeze(1))
              .exp_()
              .mul_(weight.neg())
              .scatter_add_(1, next.narrow(0, first, count).unsqueeze(1),
                            weight);
          if (type != at::kFloat) products = products.to(type);
          if (of_read.defined()) {
            of_read.narrow(0, first, count).copy_(at::matmul(products, rows));
          }
          if (!of_table.defined()) return;
          if (type == at::kFloat) {
            of_table.addmm_(products.t(), some);
          } else {
            of_table.add_(at::matmul(products.t(), some));
          }
        });
    if (of_read.defined()) of_read = of_read.to(read.scalar_type());
    return {of_read, of_table, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor LikelihoodOf(const at::Tensor& read, const at::Tensor& table,
                        const at::Tensor& next, std::int64_t most_products) {
  return Likelihood::apply(read, table, next, most_products);
}

}  // namespace frostline::trainer

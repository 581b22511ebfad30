// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/recompute.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace frostline::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What a thread casts to. The way back runs where nobody has asked for it.
struct CastState {
  c10::DeviceType device;
  bool enabled;
  at::ScalarType type;
  bool cached;

  static CastState Of(c10::DeviceType device) {
    return {device, at::autocast::is_autocast_enabled(device),
            at::autocast::get_autocast_dtype(device),
            at::autocast::is_autocast_cache_enabled()};
  }

  void Set() const {
    at::autocast::set_autocast_enabled(device, enabled);
    at::autocast::set_autocast_dtype(device, type);
    at::autocast::set_autocast_cache_enabled(cached);
  }
};

// Casts as `state` says while this object lives, without a cache: that would
// keep casts of weights whose gradients belong to another pass.
class CastAgain {
 public:
  explicit CastAgain(CastState state) : before_(CastState::Of(state.device)) {
    state.cached = false;
    state.Set();
  }
  ~CastAgain() { before_.Set(); }
  CastAgain(const CastAgain&) = delete;
  CastAgain& operator=(const CastAgain&) = delete;

 private:
  const CastState before_;
};

struct Recipe : torch::CustomClassHolder {
  Recipe(std::function<at::Tensor(const at::Tensor&)> how, CastState casts)
      : run(std::move(how)), cast(casts) {}

  std::function<at::Tensor(const at::Tensor&)> run;
  CastState cast;
};

class RunTwice : public torch::autograd::Function<RunTwice> {
 public:
  // `mark` has a gradient, so that the result has one where x has none.
  static at::Tensor forward(
      AutogradContext* context, const at::Tensor& x, const at::Tensor& /*mark*/,
      const std::function<at::Tensor(const at::Tensor&)>& run) {
    context->save_for_backward({x});
    context->saved_data["recipe"] = c10::IValue::make_capsule(
        c10::make_intrusive<Recipe>(run, CastState::Of(x.device().type())));
    const at::NoGradGuard no_graph;
    return run(x);
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const auto recipe = c10::static_intrusive_pointer_cast<Recipe>(
        context->saved_data["recipe"].toCapsule());
    at::Tensor x = context->get_saved_variables()[0].detach();
    x.set_requires_grad(context->needs_input_grad(0));
    at::Tensor y;
    {
      const at::AutoGradMode graph(true);
      const CastAgain cast(recipe->cast);
      y = recipe->run(x);
    }
    if (y.requires_grad()) y.backward(gradients[0]);
    return {x.grad(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor Recomputed(const at::Tensor& x,
                      std::function<at::Tensor(const at::Tensor&)> run) {
  if (!at::GradMode::is_enabled()) return run(x);
  return RunTwice::apply(x, at::empty({0}, x.options()).set_requires_grad(true),
                         run);
}

}  // namespace frostline::trainer

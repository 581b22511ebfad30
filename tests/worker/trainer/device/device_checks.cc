// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/device/device_checks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>
#include <vector>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

void Verdicts::Near(const std::string& what, double off, double limit,
                    const std::string& otherwise) {
  std::ostringstream figures;
  figures.precision(2);
  figures << what << ": " << std::scientific << off << ", limit " << limit;
  True(figures.str(), off <= limit, otherwise);
}

void Verdicts::True(const std::string& what, bool holds,
                    const std::string& otherwise) {
  ++(holds ? passed_ : failed_);
  *out_ << (holds ? "PASS " : "FAIL ") << what;
  if (!holds && !otherwise.empty()) *out_ << ": " << otherwise;
  *out_ << std::endl;
}

void Verdicts::Skip(const std::string& what, const std::string& why) {
  ++skipped_;
  *out_ << "SKIP " << what << ": " << why << std::endl;
}

void Verdicts::Say(const std::string& line) {
  *out_ << "     " << line << std::endl;
}

std::string Verdicts::Totals() const {
  return std::to_string(passed_) + " passed, " + std::to_string(failed_) +
         " failed, " + std::to_string(skipped_) + " skipped";
}

namespace {

constexpr char kModel[] = "models/bert-tok17";

at::Tensor Throw(at::Generator chance, const Device& device) {
  return at::empty({1000}, device.torch()).bernoulli_(0.5, chance);
}

Model Copied(const Model& model, const ModelConfig& config,
             const Device& device) {
  std::vector<at::Tensor> values;
  for (const Weight& each : model.weights()) {
    values.push_back(each.value.detach().clone().to(device.torch()));
  }
  return Model(config, model.head().spec(), values);
}

FreezePlan PlanOf(const Model& model, ModuleRates changed,
                  const FreezeSemantics& semantics = {}) {
  ModuleRates rates = std::move(changed);
  for (const std::string& each :
       ModuleNames(model.config(), model.head().spec())) {
    rates.emplace(each, 1e-3);
  }
  return MakeFreezePlan(model.config(), model.head().spec(), rates, semantics)
      .value();
}

Stepper MakeFor(Model& model, const FreezePlan& plan,
                Precision precision = Precision::kFp32) {
  StepOptions options;
  options.schedule = {ScheduleKind::kConstant, 0, 100};
  options.precision = precision;
  return Stepper::Make(model, plan, options).value();
}

Stepper Make(Model& model, const ModuleRates& rates) {
  return MakeFor(model, PlanOf(model, rates));
}

double Distance(const Model& a, const Model& b) {
  double furthest = 0.0;
  for (std::size_t i = 0; i < a.weights().size(); ++i) {
    furthest = std::max(furthest,
                        Furthest(a.weights()[i].value.detach().to(at::kCPU),
                                 b.weights()[i].value.detach().to(at::kCPU)));
  }
  return furthest;
}

// As a trial takes them: figures come a step late where a device has it so.
void Take(Stepper& stepper, const Batch& batch, int steps) {
  for (int i = 0; i <= steps; ++i) {
    const Expected<std::optional<StepResult>> result =
        i < steps ? stepper.StepAhead({&batch, 1}) : stepper.ReadLast();
    if (result.ok()) continue;
    std::fprintf(stderr, "%s\n", result.fault().cause.c_str());
    std::abort();
  }
}

Batch RecordedBatch() {
  return Noisy(
      BatchOf(ReadTensors(FixturePath(std::string(kModel) + "/io.safetensors")),
              "b0"),
      7);
}

}  // namespace

void CheckDice(const Device& device, Verdicts& verdicts) {
  verdicts.True("dice of one seed throw alike",
                Throw(device.MakeGenerator(7), device)
                    .equal(Throw(device.MakeGenerator(7), device)));
  verdicts.True("dice of two seeds do not",
                !Throw(device.MakeGenerator(7), device)
                     .equal(Throw(device.MakeGenerator(8), device)));
  at::Generator dice = device.MakeGenerator(7);
  Throw(dice, device);
  const at::Tensor state = dice.get_state();
  const at::Tensor next = Throw(dice, device);
  at::Generator restored = device.MakeGenerator(9);
  restored.set_state(state);
  verdicts.True("dice go on from a state that was kept",
                next.equal(Throw(restored, device)));
}

void CheckMemory(Device device, Verdicts& verdicts) {
  const Expected<Done> asked = CatchTorch([&]() -> Expected<Done> {
    at::empty({std::int64_t{1} << 50}, device.torch());
    return Done{};
  });
  verdicts.True("four pebibytes are a lack of memory",
                !asked.ok() && asked.fault().kind == FaultKind::kOutOfMemory,
                asked.ok() ? "they were there" : asked.fault().cause);
  device.ResetPeakMemory();
  const std::int64_t before = device.PeakMemoryBytes();
  if (before == 0 && !device.is_cpu()) {
    at::Tensor held = at::ones({1 << 20}, device.torch());
    if (device.PeakMemoryBytes() == 0) {
      return verdicts.Skip("the peak of memory", "this LibTorch does not tell");
    }
  }
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  {
    const at::Tensor held = at::ones({kBytes / 4}, device.torch());
    device.Synchronize();
  }
  const std::int64_t grown = device.PeakMemoryBytes() - before;
  verdicts.True("the peak of memory grows by what was held",
                grown >= kBytes / 2 && grown <= 2 * kBytes,
                std::to_string(grown) + " bytes");
}

void CheckEnergy(const Device& device, Verdicts& verdicts) {
  const std::optional<double> before = device.EnergyJoules();
  if (!before) return verdicts.Skip("energy", "nobody counts it here");
  const at::Tensor factor = at::ones({4096, 4096}, device.torch());
  for (int i = 0; i < 200; ++i) at::matmul(factor, factor);
  device.Synchronize();
  const double used = *device.EnergyJoules() - *before;
  verdicts.True("energy grows with work", used > 0.0 && used < 1e4,
                std::to_string(used) + " J");
}

// With dropout, so that noise matters. A GPU adds some gradients in no fixed
// order, so it may differ in the last bits.
void CheckCheckpoint(const Device& device, const test::Limits& limits,
                     Verdicts& verdicts) {
  const Model recorded = LoadFixture(kModel).model;
  ModelConfig config = recorded.config();
  config.hidden_dropout = config.attention_dropout = 0.1;
  const Batch batch = RecordedBatch();
  const std::string path =
      (std::filesystem::temp_directory_path() /
       ("frostline-" + std::to_string(getpid()) + ".safetensors"))
          .string();
  Model straight = Copied(recorded, config, device);
  Stepper whole = Make(straight, {});
  Take(whole, batch, 4);
  const Expected<Done> saved = SaveCheckpoint(path, whole, {});
  Take(whole, batch, 4);
  Model other = Copied(recorded, config, device);
  Stepper resumed = Make(other, {});
  const Expected<Notes> loaded = LoadCheckpoint(path, resumed);
  std::filesystem::remove(path);
  if (!saved.ok() || !loaded.ok()) {
    return verdicts.True(
        "a checkpoint is kept and read", false,
        saved.ok() ? loaded.fault().cause : saved.fault().cause);
  }
  Take(resumed, batch, 4);
  verdicts.Near("going on from a checkpoint, with dropout",
                Distance(straight, other),
                device.is_cpu() ? 0.0 : limits.backward);
}

void CheckFrozenHeads(const Device& device, const test::Limits& limits,
                      Verdicts& verdicts) {
  const Model recorded = LoadFixture(kModel).model;
  const ModuleRates rates = {{"layer.1.head.2", 0.0}, {"layer.2.head.0", 1e-4}};
  Model here = Copied(recorded, recorded.config(), device);
  Model there =
      Copied(recorded, recorded.config(), Device::Open("cpu").value());
  Stepper on_device = Make(here, rates);
  Stepper on_cpu = Make(there, rates);
  const Batch batch = RecordedBatch();
  const Batch moved = MoveTo(batch, device.torch());
  Take(on_device, moved, 2);  // a batch that is there already
  Take(on_cpu, batch, 2);
  verdicts.Near("frozen attention heads, against the processor",
                Distance(here, there), limits.backward);
}

void CheckSmart(const Device& device, const Kernels& kernels,
                const test::Limits& limits, Verdicts& verdicts) {
  const Model recorded = LoadFixture(kModel).model;
  const Batch batch = RecordedBatch();
  const auto third_loss = [&](const Device& where, const Kernels& given) {
    Model model = Copied(recorded, recorded.config(), where);
    StepOptions options;
    options.schedule = {ScheduleKind::kConstant, 0, 100};
    options.kernels = given;
    options.smart.weight = options.smart.bregman = 1.0;
    options.smart.radius = options.smart.step_size = 0.1;
    options.smart.noise_variance = 1e-2;
    Stepper stepper = Stepper::Make(model, PlanOf(model, {}), options).value();
    Take(stepper, batch, 2);
    return stepper.Step({&batch, 1}).value().loss;
  };
  const double here = third_loss(device, kernels);
  const double there = third_loss(Device::Open("cpu").value(), {});
  verdicts.Near("SMART from where texts draw it, against the processor",
                std::abs(here - there), limits.backward);
}

namespace {

struct Shape {
  std::int64_t layers, hidden, texts, tokens;
};

Model RandomModel(const Shape& shape, const Device& device) {
  const Model recorded = LoadFixture("models/bert-seq2").model;
  ModelConfig config = recorded.config();
  config.layers = shape.layers;
  config.hidden = shape.hidden;
  config.heads = shape.hidden / 64;
  config.feed_forward = 4 * shape.hidden;
  config.vocabulary = 30522;
  config.positions = 512;
  config.hidden_dropout = config.attention_dropout = 0.1;
  at::Generator chance = device.MakeGenerator(1);
  std::vector<at::Tensor> values;
  for (const ParameterSpec& spec :
       ParametersOf(config, recorded.head().spec())) {
    values.push_back(
        at::empty(spec.shape, device.torch()).normal_(0.0, 0.02, chance));
  }
  return Model(config, recorded.head().spec(), values);
}

Batch RandomBatch(const Shape& shape) {
  Batch batch;
  batch.ids = at::arange(shape.texts * shape.tokens, at::kLong)
                  .remainder(30000)
                  .reshape({shape.texts, shape.tokens});
  batch.mask = at::ones({shape.texts, shape.tokens}, at::kLong);
  batch.labels = at::arange(shape.texts, at::kLong).remainder(2);
  return Noisy(batch, 7);
}

// The best of three runs of a few steps each.
double MillisecondsPerStep(Stepper& stepper, const Batch& batch, int steps) {
  using Clock = std::chrono::steady_clock;
  Take(stepper, batch, 2);
  double best = 0.0;
  for (int run = 0; run < 3; ++run) {
    const Clock::time_point start = Clock::now();
    Take(stepper, batch, steps);  // reads the last loss: no wait is left
    const std::chrono::duration<double, std::milli> taken =
        Clock::now() - start;
    const double each = taken.count() / steps;
    best = run == 0 ? each : std::min(best, each);
  }
  return best;
}

// What a step can do with the embeddings and two thirds of the layers.
enum class Lower { kTrain, kAtRate0, kFrozen, kFromMemory };
constexpr std::array kLower = {Lower::kTrain, Lower::kAtRate0, Lower::kFrozen,
                               Lower::kFromMemory};

const char* NameOf(Lower lower) {
  switch (lower) {
    case Lower::kTrain:
      return "all train";
    case Lower::kAtRate0:
      return "two thirds at rate 0";
    case Lower::kFrozen:
      return "two thirds frozen";
    case Lower::kFromMemory:
      return "two thirds frozen, what they gave in memory";
  }
  return "";
}

FreezePlan PlanWith(Lower lower, const Model& model) {
  ModuleRates rates;
  if (lower != Lower::kTrain) {
    rates["embeddings"] = 0.0;
    for (std::int64_t i = 0; i < model.config().layers * 2 / 3; ++i) {
      rates["layer." + std::to_string(i)] = 0.0;
    }
  }
  FreezeSemantics semantics;
  semantics.prefix_dropout = PrefixDropout::kOff;
  if (lower == Lower::kAtRate0) semantics.mode = FreezeMode::kLr0;
  return PlanOf(model, rates, semantics);
}

// What a batch of the given plan reads: with the boundary, where it is there.
Batch BatchFor(Lower lower, const Model& model, const FreezePlan& plan,
               Batch batch) {
  if (lower != Lower::kFromMemory) return batch;
  batch.boundary =
      model.encoder().Prefix(MoveTo(batch, model.device()), TrainingPass(plan));
  return batch;
}

}  // namespace

void TimeSteps(const std::string& size, Device device, Verdicts& verdicts) {
  const Shape shape =
      size == "base" ? Shape{12, 768, 32, 128} : Shape{6, 384, 16, 64};
  const int threads = at::get_num_threads();
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const Lower lower : kLower) {
      Model model = RandomModel(shape, device);
      at::set_num_threads(threads);  // reading fixtures left one
      const FreezePlan plan = PlanWith(lower, model);
      const Batch batch = BatchFor(lower, model, plan, RandomBatch(shape));
      Stepper stepper = MakeFor(model, plan, precision);
      device.ResetPeakMemory();
      const std::optional<double> before = device.EnergyJoules();
      const int steps = device.is_cpu() ? 2 : 20;
      std::ostringstream line;
      line.precision(4);
      line << size << " " << NameOf(precision) << ", " << NameOf(lower) << ": "
           << MillisecondsPerStep(stepper, batch, steps) << " ms a step, peak "
           << (device.PeakMemoryBytes() >> 20) << " MiB";
      if (before) {
        line << ", " << (*device.EnergyJoules() - *before) / (2 + 3 * steps)
             << " J a step";
      }
      verdicts.Say(line.str());
    }
  }
}

}  // namespace frostline::trainer

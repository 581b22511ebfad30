// SPDX-License-Identifier: Apache-2.0
//
// File: space_builder.h
//
// Makes the space of a study from what its file says.
#ifndef FROSTLINE_STUDY_SPACE_BUILDER_H_
#define FROSTLINE_STUDY_SPACE_BUILDER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "study/freezing.h"
#include "study/space.h"

namespace frostline {

// Values are as a person writes them ("2e-5", "adam"); intervals are for
// numeric parents.
struct ConditionSpec {
  std::string parent;
  std::vector<std::string> values;
  std::optional<double> min;
  std::optional<double> max;
};

// A number that is searched, or not.
struct NumberSpec {
  std::optional<Domain> domain;
  double fixed = 0.0;
};

// A builder of a space. Build() returns the first mistake; `field` is its place
// in the study:
//
//   SpaceBuilder builder({.num_layers = 6});
//   builder.SetDefault(strategy, "space.default");
//   builder.AddModules("layer.*", Levels{{0, 2e-6, 2e-5}}, "space.modules[0]");
//   builder.AddParameter("dropout", FloatRange{0, .3}, "space.parameters[0]");
//   ASSIGN_OR_RETURN(Space space, builder.Build());
class SpaceBuilder {
 public:
  explicit SpaceBuilder(const ModelShape& shape);

  // Gives rates to all other modules, which are frozen without it.
  void SetDefault(const Strategy& strategy, const std::string& field);

  // Instead: of L layers, counted from 1 below, layer i has the rate base_rate
  // * decay^(L - i), the embeddings, as a layer 0, base_rate * decay^L, pooler
  // and head base_rate. What is searched becomes the parameter "base_rate" or
  // "decay".
  void SetLayerwiseDecay(const NumberSpec& base_rate, const NumberSpec& decay,
                         const std::string& field);

  // Adds a parameter for each module.
  void AddModules(const std::string& selector, const Domain& domain,
                  const std::string& field);
  void FixModules(const std::string& selector, double rate,
                  const std::string& field);
  // Adds one parameter for all.
  void TieModules(const std::string& name,
                  const std::vector<std::string>& selectors,
                  const Domain& domain, const std::string& field);

  // Adds the parameter "rank.NAME" for each module: an adapter of this rank
  // trains, at the rate that the module has from elsewhere. Where that is a
  // parameter of its own, one of the two is inactive while the other freezes.
  void AddRanks(const std::string& selector, const Levels& ranks,
                const std::string& field);
  // Adds one parameter for the ranks of all.
  void TieRanks(const std::string& name,
                const std::vector<std::string>& selectors, const Levels& ranks,
                const std::string& field);

  // Adds the parameter "prefix_depth": embeddings and layers below it are
  // frozen, and their parameters inactive.
  void SetPrefixDepth(int lo, int hi, const std::string& field);

  void AddParameter(const std::string& name, const Domain& domain,
                    const std::string& field,
                    const std::optional<ConditionSpec>& condition = {});

  absl::StatusOr<Space> Build();

 private:
  struct Entry {
    Parameter parameter;
    std::optional<ConditionSpec> condition;
    std::string field;
  };

  void Fail(const absl::Status& status);
  // It is MODULE_DUPLICATE when one is taken.
  bool Claim(const std::vector<std::string>& modules, const std::string& field);
  // The same of ranks, of which only layers and their halves have any.
  bool ClaimRanks(const std::vector<std::string>& modules,
                  const std::string& field);
  // Claims all that the selectors name for the parameter `name`, which becomes
  // theirs in `parameters`. Returns whether it could.
  using ClaimFunction = bool (SpaceBuilder::*)(const std::vector<std::string>&,
                                               const std::string&);
  bool TieTo(const std::string& name, const std::vector<std::string>& selectors,
             const std::string& field, ClaimFunction claim,
             std::map<std::string, std::string>& parameters);
  void AddEntry(Entry entry);
  Entry* Find(const std::string& parameter);
  bool IsTied(const std::string& parameter) const;
  // Says which of a module's two parameters waits for the other.
  absl::Status PlaceRanks();
  absl::Status PairWithRate(const std::string& module, const std::string& rank);
  absl::Status PlacePrefixDepth();
  bool Decays(const std::string& module) const;
  // Returns the topmost layer whose rate decays at least `least` times; -1 if
  // there is none.
  int TopDecayedLayer(int least) const;
  absl::Status CheckDecay() const;
  // The topmost layer for which this entry of layerwise_decay counts; nothing
  // where it always does, or is no such entry.
  std::optional<int> DeepestDecayed(const Entry& entry) const;
  std::optional<LayerwiseDecay> PlacedDecay() const;
  void BindDecay(ModuleBinding& binding) const;
  absl::Status ResolveConditions();
  std::vector<ModuleBinding> BindModules() const;
  std::optional<int> PlaceOf(const std::map<std::string, std::string>& names,
                             const std::string& module) const;
  void BindAdapter(ModuleBinding& binding) const;
  absl::Status CheckAdapters(const std::vector<ModuleBinding>& modules) const;

  ModelShape shape_;
  absl::Status first_error_;
  std::vector<ModuleRate> defaults_;
  std::optional<std::pair<NumberSpec, NumberSpec>> decay_;  // base, factor
  std::string decay_field_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> field_of_module_;
  std::map<std::string, std::string> parameter_of_module_;
  std::map<std::string, std::string> field_of_ranks_;
  std::map<std::string, std::string> rank_of_module_;  // the parameter
  std::map<std::string, double> fixed_rate_;
  std::optional<IntRange> depth_;
  std::string depth_field_;
};

}  // namespace frostline

#endif  // FROSTLINE_STUDY_SPACE_BUILDER_H_

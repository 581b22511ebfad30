// SPDX-License-Identifier: Apache-2.0
//
// CreateStudy: what the spec alone can tell is judged on a reader, then the
// study is written on the loop. The same id with the same spec is the same
// study.
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "google/protobuf/util/message_differencer.h"
#include "sampler/auto.h"
#include "sampler/draw/random.h"
#include "server/auth/access.h"
#include "server/dispatch/supply.h"
#include "server/search/prior_studies.h"
#include "server/search/sampler_choice.h"
#include "server/verbs/describe.h"
#include "server/verbs/enqueue.h"
#include "server/verbs/study_verbs.h"
#include "server/wire/convert.h"
#include "server/wire/new_study.h"
#include "server/wire/test_objective.h"
#include "server/wire/training_bounds.h"
#include "server/wire/training_seed.h"
#include "study/freezing.h"

namespace frostline::server {
namespace {

std::uint64_t DrawSeed() {
  const std::uint64_t seed =
      std::strtoull(RandomHexId().substr(0, 16).c_str(), nullptr, 16);
  return seed == 0 ? 1 : seed;
}

// Who has no credentials has no name that others could not have.
std::string OwnerOf(const CallerIdentity& caller) {
  return caller.proof == CallerProof::kLoopback ? "" : caller.subject;
}

// Names of the message's fields that differ, for a person to look at.
template <typename Message>
void AddDifferences(const Message& stored, const Message& asked,
                    const std::string& prefix,
                    std::vector<std::string>& fields) {
  google::protobuf::util::MessageDifferencer differencer;
  const auto* const descriptor = Message::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* const field = descriptor->field(i);
    // Compares this field alone.
    Message a = stored;
    Message b = asked;
    for (int other = 0; other < descriptor->field_count(); ++other) {
      if (other == i) continue;
      a.GetReflection()->ClearField(&a, descriptor->field(other));
      b.GetReflection()->ClearField(&b, descriptor->field(other));
    }
    if (!differencer.Compare(a, b)) fields.push_back(prefix + field->name());
  }
}

// What was left open then is what was chosen then.
void FillAsStored(const v1::StudySpec& stored, v1::StudySpec& asked) {
  if (asked.seed() == 0) asked.set_seed(stored.seed());
  if (asked.has_repeat() && stored.has_repeat()) {
    v1::RepeatLeaders& repeat = *asked.mutable_repeat();
    const v1::RepeatLeaders& then = stored.repeat();
    if (repeat.leaders() == 0) repeat.set_leaders(then.leaders());
    if (repeat.after() == 0) repeat.set_after(then.after());
  }
  const bool both_best = asked.purpose() == v1::PURPOSE_BEST &&
                         stored.purpose() == v1::PURPOSE_UNSPECIFIED;
  if (asked.purpose() == v1::PURPOSE_UNSPECIFIED || both_best) {
    asked.set_purpose(stored.purpose());
  }
  const auto& options = stored.sampler().options();
  const auto pick = options.find(sampler::kPickOption);
  if (asked.sampler().name() == stored.sampler().name() &&
      pick != options.end()) {
    asked.mutable_sampler()->mutable_options()->insert(*pick);
  }
}

// Of a study that no worker could begin, while others are there.
std::optional<std::string> WhatNobodyHas(const FleetSupply& fleet) {
  if (fleet.lacking == 0 || fleet.matching + fleet.out_of_service > 0) {
    return std::nullopt;
  }
  return absl::StrCat(
      "no worker has ", fleet.what_lacks,
      " yet: add it to a node's registry, or start one that has");
}

v1::FrozenPrefixes PrefixesOf(const CheckedStudy& checked) {
  v1::FrozenPrefixes prefixes;
  double frozen = 0.0;
  for (const double chance : FrozenPrefixChances(
           checked.space, checked.shape.num_layers, sampler::kFrozenShare)) {
    prefixes.set_expected(prefixes.expected() + frozen * chance);
    prefixes.add_chance(chance);
    frozen += 1.0;
  }
  return prefixes;
}

v1::CreateStudyReply CreateReply(const v1::Study& study,
                                 const CheckedStudy& checked,
                                 const FleetSupply& fleet) {
  v1::CreateStudyReply reply;
  *reply.mutable_study() = study;
  for (v1::ResolvedModule& module : ResolvedModules(checked.space)) {
    *reply.add_modules() = std::move(module);
  }
  reply.set_space_size(checked.space.CountPoints());
  if (checked.shape.num_layers > 0) {
    *reply.mutable_prefixes() = PrefixesOf(checked);
  }
  for (std::string& advice : AdviceFor(checked)) {
    reply.add_advice(std::move(advice));
  }
  if (auto lack = WhatNobodyHas(fleet)) reply.add_advice(*std::move(lack));
  return reply;
}

}  // namespace

void StudyVerbs::CreateStudy(CallContext caller, v1::CreateStudyRequest request,
                             Reply<v1::CreateStudyReply> reply) {
  auto shared = std::make_shared<Reply<v1::CreateStudyReply>>(std::move(reply));
  auto prepare = [this, shared, caller = std::move(caller),
                  request = std::move(request)]() mutable {
    auto create = [this, prepared = Prepare(request)](
                      Change& change, const v1::CreateStudyRequest& asked) {
      change.AssertOnLoop();
      return Create(change, asked, prepared);
    };
    if (request.validate_only()) {
      return calls_.Act<v1::CreateStudyReply>(
          std::move(caller), std::move(*shared),
          [create, request](Change& change) mutable {
            return create(change, request);
          });
    }
    calls_.ActOnce<v1::CreateStudyReply>(
        std::move(caller), "CreateStudy", std::move(request),
        std::move(*shared), std::move(create),
        [this](const v1::CreateStudyRequest& asked)
            FROSTLINE_ON_LOOP { return MayBegin(asked); });
  };
  calls_.PostTo(calls_.readers(), std::move(prepare), Urgency::kChange,
                [&shared](const absl::Status& why) { (*shared)(why); });
}

absl::StatusOr<StudyVerbs::Prepared> StudyVerbs::Prepare(
    const v1::CreateStudyRequest& request) const {
  Prepared made;
  made.spec = request.spec();
  made.created = clock_.Wall();
  if (made.spec.seed() == 0) made.spec.set_seed(DrawSeed());
  FillRepeat(request.settings(), made.spec);
  RETURN_IF_ERROR(CheckTrainingBounds(made.spec));
  RETURN_IF_ERROR(CheckTestObjective(made.spec));
  RETURN_IF_ERROR(CheckRegistered(request.settings().notify(), destinations_));
  const auto check = [&] {
    return CheckStudy(made.spec, request.settings(), ledger_.default_lease());
  };
  ASSIGN_OR_RETURN(CheckedStudy checked, check());
  RETURN_IF_ERROR(CheckNewStudy(made.spec));
  // What is chosen here is written into the spec, and judged with it.
  if (WritePick(checked, made.spec)) {
    ASSIGN_OR_RETURN(checked, check());
  }
  if (WritePurpose(checked, made.spec)) {
    ASSIGN_OR_RETURN(checked, check());
  }
  checked.pruner.study = request.study_id();
  made.checked = std::make_shared<const CheckedStudy>(std::move(checked));
  ASSIGN_OR_RETURN(made.priors,
                   LoadPriorStudies(*made.checked, made.created, store_,
                                    proposer_.stop_token()));
  return made;
}

absl::Status StudyVerbs::MayBegin(const v1::CreateStudyRequest& request) const {
  const bool is_there = ledger_.HasId(request.study_id());
  if (disk_.room == storage::Room::kAmple || is_there) return absl::OkStatus();
  return MakeError(ErrorId::kStoreFull,
                   absl::StrCat("the coordinator's disk has ",
                                disk_.free_bytes >> 20, " MiB left"),
                   "make room on it; studies that are there go on meanwhile");
}

absl::StatusOr<v1::CreateStudyReply> StudyVerbs::Create(
    Change& change, const v1::CreateStudyRequest& request,
    const absl::StatusOr<Prepared>& prepared) {
  RETURN_IF_ERROR(CheckId(request.study_id(), "study_id"));
  const std::string name = StudyNameOf(request.study_id());
  if (ledger_.HasId(request.study_id())) {
    ASSIGN_OR_RETURN(const StudyBook* existing, ledger_.FindStudy(name));
    RETURN_IF_ERROR(CheckStudyAccess(
        change.caller.identity,
        {name, existing->row().owner, existing->checked().settings.labels()},
        /*changes=*/true));
    v1::StudySpec spec = request.spec();
    FillAsStored(existing->checked().spec, spec);
    std::vector<std::string> fields;
    AddDifferences(existing->checked().spec, spec, "", fields);
    v1::StudySettings settings = request.settings();
    if (settings.auto_precision().empty()) {
      settings.set_auto_precision(
          existing->checked().settings.auto_precision());
    }
    AddDifferences(existing->checked().settings, settings, "settings.", fields);
    if (fields.empty()) {
      return CreateReply(DescribeStudy(*existing), existing->checked(),
                         CountFleet(ledger_, *existing, clock_));
    }
    return MakeError(
        ErrorId::kStudyAlreadyExists,
        absl::StrCat("study ", request.study_id(), " exists, with another ",
                     absl::StrJoin(fields, ", ")),
        "choose another id, give the same as then to go on with it, or change "
        "its settings: frostline study update ID (UpdateStudy)",
        "study_id");
  }
  RETURN_IF_ERROR(prepared.status());
  RETURN_IF_ERROR(
      CheckOwnLabels(change.caller.identity, request.settings().labels()));
  storage::StudyRow row;
  row.owner = OwnerOf(change.caller.identity);
  row.id = request.study_id();
  row.spec = prepared->spec.SerializeAsString();
  row.settings = request.settings().SerializeAsString();
  row.seed = prepared->spec.seed();
  row.revision = 1;
  row.created = row.updated = prepared->created;
  if (request.validate_only()) {
    const StudyBook book(row, prepared->checked);
    return CreateReply(DescribeStudy(book), *prepared->checked,
                       CountFleet(ledger_, book, clock_));
  }
  ASSIGN_OR_RETURN(
      StudyBook * book,
      ledger_.InsertStudy(change.batch, std::move(row), prepared->checked));
  proposer_.Open(book->row().key, prepared->checked, History(),
                 prepared->priors);
  FROSTLINE_FAILPOINT(kStudyCreated);
  for (int i = 0; i < prepared->spec.enqueue_size(); ++i) {
    RETURN_IF_ERROR(EnqueueOne({change.batch, ledger_, proposer_}, *book,
                               prepared->spec.enqueue(i), 0,
                               absl::StrCat("enqueue[", i, "]"))
                        .status());
  }
  return CreateReply(DescribeStudy(*book), *prepared->checked,
                     CountFleet(ledger_, *book, clock_));
}

}  // namespace frostline::server

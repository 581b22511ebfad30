// SPDX-License-Identifier: Apache-2.0
#include "server/auth/access.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/error.h"

namespace frostline::server {
namespace {

struct RoleRow {
  CallerRole role;
  const char* name;
  v1::Role wire;
};

constexpr std::array<RoleRow, 4> kRoles = {
    {{CallerRole::kViewer, "viewer", v1::ROLE_VIEWER},
     {CallerRole::kWorker, "worker", v1::ROLE_WORKER},
     {CallerRole::kResearcher, "researcher", v1::ROLE_RESEARCHER},
     {CallerRole::kAdmin, "admin", v1::ROLE_ADMIN}}};

}  // namespace

bool Allows(const CallerIdentity& caller, CallerRole row) {
  const CallerRole role = caller.role;
  if (role == CallerRole::kAnyone) return false;  // nobody has this role
  if (row == CallerRole::kAnyone || row == role) return true;
  if (row == CallerRole::kInvited) return false;
  if (row == CallerRole::kCertified) {
    return role == CallerRole::kWorker &&
           caller.proof == CallerProof::kCertificate;
  }
  if (role == CallerRole::kAdmin) return true;
  return role == CallerRole::kResearcher && row == CallerRole::kViewer;
}

const char* NameOfRole(CallerRole role) {
  if (role == CallerRole::kInvited) return "invited";
  if (role == CallerRole::kCertified) return "certified";
  for (const RoleRow& row : kRoles) {
    if (row.role == role) return row.name;
  }
  return "anyone";
}

std::optional<CallerRole> RoleNamed(const std::string& name) {
  for (const RoleRow& row : kRoles) {
    if (row.name == name) return row.role;
  }
  return std::nullopt;
}

v1::Role RoleToProto(CallerRole role) {
  for (const RoleRow& row : kRoles) {
    if (row.role == role) return row.wire;
  }
  return v1::ROLE_UNSPECIFIED;
}

std::optional<CallerRole> RoleFromProto(int role) {
  for (const RoleRow& row : kRoles) {
    if (row.wire == role) return row.role;
  }
  return std::nullopt;
}

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Labels = google::protobuf::Map<std::string, std::string>;

constexpr char kStudies[] = "studies/";
// Fields with text of people, in which anything may stand.
constexpr std::array<std::string_view, 4> kProse = {"notes", "note", "reason",
                                                    "filter"};

bool CarriesLabelsOf(const CallerIdentity& caller, const Labels& labels) {
  return std::all_of(caller.study_labels.begin(), caller.study_labels.end(),
                     [&labels](const auto& wanted) {
                       const auto found = labels.find(wanted.first);
                       return found != labels.end() &&
                              found->second == wanted.second;
                     });
}

bool MayChange(const CallerIdentity& caller, const StudyBelongs& study) {
  if (caller.role != CallerRole::kResearcher) {
    return caller.role == CallerRole::kAdmin;
  }
  if (!study.owner.empty() && study.owner == caller.subject) return true;
  return !caller.study_labels.empty() && CarriesLabelsOf(caller, study.labels);
}

std::string AccessTextOf(const CallerIdentity& caller) {
  return absl::StrJoin(caller.study_labels, ", ", absl::PairFormatter("="));
}

void AddStudy(const std::string& text, std::set<std::string>& found) {
  if (!absl::StartsWith(text, kStudies)) return;
  found.insert(text.substr(0, text.find('/', sizeof(kStudies) - 1)));
}

void AddStudies(const Message& message, std::set<std::string>& found) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_prose =
        std::find(kProse.begin(), kProse.end(), field->name()) != kProse.end();
    if (is_prose || field->is_map()) continue;
    const int count =
        field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        AddStudy(field->is_repeated()
                     ? reflection.GetRepeatedString(message, field, i)
                     : reflection.GetString(message, field),
                 found);
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        AddStudies(field->is_repeated()
                       ? reflection.GetRepeatedMessage(message, field, i)
                       : reflection.GetMessage(message, field),
                   found);
      }
    }
  }
}

bool EndsAttempt(const std::string& method) {
  return absl::EndsWith(method, "WorkerService.Finish") ||
         absl::EndsWith(method, "WorkerService.Release");
}

// Returns "" when the message has no such text.
std::string TextAt(const Message& message, const char* name) {
  const auto* const field = message.GetDescriptor()->FindFieldByName(name);
  const bool is_text = field != nullptr && !field->is_repeated() &&
                       field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  return is_text ? message.GetReflection()->GetString(message, field) : "";
}

}  // namespace

bool IsLimited(const CallerIdentity& caller) {
  return !caller.study_labels.empty();
}

bool MaySee(const CallerIdentity& caller, const StudyBelongs& study) {
  if (!IsLimited(caller) || MayChange(caller, study)) return true;
  return CarriesLabelsOf(caller, study.labels);
}

absl::Status CheckStudyAccess(const CallerIdentity& caller,
                              const StudyBelongs& study, bool changes) {
  if (changes ? MayChange(caller, study) : MaySee(caller, study)) {
    return absl::OkStatus();
  }
  std::string cause = study.name;
  // A caller who may not see a study is not told whose it is.
  if (MaySee(caller, study)) {
    absl::StrAppend(&cause,
                    study.owner.empty() ? " has no owner" : " belongs to ",
                    study.owner);
    if (!IsLimited(caller)) {
      absl::StrAppend(&cause, ", not to ", caller.subject);
    }
  }
  if (IsLimited(caller)) {
    absl::StrAppend(&cause, cause == study.name ? "" : " and",
                    " does not carry ", AccessTextOf(caller));
  }
  return MakeError(
      ErrorId::kStudyDenied, cause,
      "ask its owner, or an admin; a token with --study-label changes what "
      "carries the label");
}

absl::Status CheckOwnLabels(const CallerIdentity& caller,
                            const Labels& labels) {
  if (CarriesLabelsOf(caller, labels)) return absl::OkStatus();
  return MakeError(
      ErrorId::kStudyDenied,
      absl::StrCat("the token of ", caller.subject,
                   " is for studies that carry ", AccessTextOf(caller)),
      absl::StrCat("give the study the labels ", AccessTextOf(caller)),
      "settings.labels");
}

std::vector<std::string> StudiesNamedIn(const Message& request) {
  std::set<std::string> found;
  AddStudies(request, found);
  return {found.begin(), found.end()};
}

namespace {

std::string ResourceOf(const Message& request) {
  for (const char* const name : {"name", "parent", "study", "worker"}) {
    std::string text = TextAt(request, name);
    if (!text.empty()) return text;
  }
  const auto* const lease = request.GetDescriptor()->FindFieldByName("lease");
  if (lease != nullptr) {
    return TextAt(request.GetReflection()->GetMessage(request, lease), "trial");
  }
  constexpr std::array<std::array<const char*, 2>, 5> kPrefixed = {
      {{"study_id", "studies/"},
       {"worker_id", "workers/"},
       {"id", "tokens/"},
       {"sha256", "certificates/"},
       {"subject", "subjects/"}}};
  for (const auto& [name, prefix] : kPrefixed) {
    const std::string text = TextAt(request, name);
    if (!text.empty()) return absl::StrCat(prefix, text);
  }
  return "";
}

}  // namespace

bool MayChange(const google::protobuf::Descriptor& request,
               const std::string& method) {
  return request.FindFieldByName("request_id") != nullptr ||
         EndsAttempt(method);
}

void NoteRequest(const Message& request, const std::string& method,
                 CallContext* caller) {
  caller->method = std::string(absl::StripPrefix(method, "frostline.v1."));
  caller->request_id = TextAt(request, "request_id");
  caller->changes = !caller->request_id.empty() || EndsAttempt(method);
  const CallerRole role = caller->identity.role;
  const bool looks_at_studies =
      role == CallerRole::kResearcher || role == CallerRole::kViewer;
  if (caller->changes || looks_at_studies) {
    caller->resource = ResourceOf(request);
  }
  if (looks_at_studies) caller->studies = StudiesNamedIn(request);
}

}  // namespace frostline::server

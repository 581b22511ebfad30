// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/catalogue.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/term/table.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// Returns whether a full stop ends a sentence. It may also be inside one: "e.g.
// this".
bool EndsSentence(const std::string& text, std::size_t dot) {
  const std::string before = text.substr(0, dot);
  if (absl::EndsWith(before, "e.g") || absl::EndsWith(before, "i.e")) {
    return false;
  }
  if (dot + 2 >= text.size()) return true;
  return !absl::ascii_islower(static_cast<unsigned char>(text[dot + 2]));
}

}  // namespace

std::string CommentNamed(std::string_view full_name) {
  const CommentRow* const end = kCommentRows + kCommentCount;
  const CommentRow* const found =
      std::lower_bound(kCommentRows, end, full_name,
                       [](const CommentRow& row, std::string_view name) {
                         return row.name < name;
                       });
  if (found == end || found->name != full_name) return "";
  return std::string(found->text);
}

std::string FirstSentence(const std::string& comment) {
  const std::string first = comment.substr(0, comment.find("\n\n"));
  for (std::size_t dot = first.find(". "); dot != std::string::npos;
       dot = first.find(". ", dot + 1)) {
    if (EndsSentence(first, dot)) return first.substr(0, dot + 1);
  }
  return first;
}

namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;

constexpr std::size_t kMaxCatalogueWord = 100;

std::vector<const FileDescriptor*> ServiceFiles() {
  return {v1::CreateStudyRequest::descriptor()->file(),
          v1::GetReportRequest::descriptor()->file(),
          v1::AcquireRequest::descriptor()->file(),
          v1::WhoAmIRequest::descriptor()->file()};
}

void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>* seen,
             std::vector<const FileDescriptor*>* files) {
  if (file.package() != ServiceFiles().front()->package()) return;
  if (!seen->insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddFile(*file.dependency(i), seen, files);
  }
  files->push_back(&file);
}

std::vector<const FileDescriptor*> AllFiles() {
  std::set<const FileDescriptor*> seen;
  std::vector<const FileDescriptor*> files;
  for (const FileDescriptor* const file : ServiceFiles()) {
    AddFile(*file, &seen, &files);
  }
  return files;
}

std::string QualifiedName(const MethodDescriptor& method) {
  return absl::StrCat(method.service()->name(), ".", method.name());
}

absl::Status NoMethod(const std::string& word) {
  std::vector<std::string> names;
  for (const MethodDescriptor* const method : AllMethods()) {
    names.push_back(method->name());
    names.push_back(QualifiedName(*method));
  }
  const std::string near = Nearest(word, names);
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("the contract has no method '",
                                proto::CleanText(word, kMaxCatalogueWord), "'"),
                   near.empty()
                       ? "`frostline rpc --list` shows the methods there are"
                       : absl::StrCat("did you mean '", near, "'?"));
}

absl::Status SeveralMethods(const std::vector<const MethodDescriptor*>& found) {
  std::vector<std::string> names;
  for (const MethodDescriptor* const method : found) {
    names.push_back(QualifiedName(*method));
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(names.size(), " services have a ", found.front()->name()),
      absl::StrCat("write ", absl::StrJoin(names, " or ")));
}

template <typename Declared>
const Declared* FindNamed(const std::vector<const Declared*>& all,
                          const std::string& word) {
  for (const Declared* const one : all) {
    if (absl::EqualsIgnoreCase(ShortNameOf(*one), word)) return one;
  }
  return nullptr;
}

}  // namespace

std::vector<const MethodDescriptor*> AllMethods() {
  std::vector<const MethodDescriptor*> methods;
  for (const FileDescriptor* const file : ServiceFiles()) {
    for (int i = 0; i < file->service_count(); ++i) {
      const auto& service = *file->service(i);
      for (int j = 0; j < service.method_count(); ++j) {
        methods.push_back(service.method(j));
      }
    }
  }
  return methods;
}

absl::StatusOr<const MethodDescriptor*> FindMethod(const std::string& word) {
  const std::string wanted =
      absl::StrReplaceAll(absl::StripPrefix(word, "/"), {{"/", "."}});
  std::vector<const MethodDescriptor*> found;
  for (const MethodDescriptor* const method : AllMethods()) {
    for (const std::string& name :
         {method->name(), QualifiedName(*method), method->full_name()}) {
      if (absl::EqualsIgnoreCase(name, wanted)) found.push_back(method);
    }
  }
  if (found.empty()) return NoMethod(wanted);
  if (found.size() > 1) return SeveralMethods(found);
  return found.front();
}

std::string MethodTable(int max_width) {
  Table table({{"METHOD"}, {"SERVED"}, {"WHAT IT DOES", Align::kLeft, 1}});
  for (const MethodDescriptor* const method : AllMethods()) {
    const bool served = !method->options().HasExtension(v1::method_not_served);
    const char* const answers = method->server_streaming() ? "stream" : "yes";
    table.AddRow({QualifiedName(*method), served ? answers : "not yet",
                  FirstSentence(CommentOf(*method))});
  }
  return table.Render(max_width);
}

std::vector<const Descriptor*> AllMessages() {
  std::vector<const Descriptor*> messages;
  for (const FileDescriptor* const file : AllFiles()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      messages.push_back(file->message_type(i));
    }
  }
  // Those inside of others stand behind all of these.
  for (std::size_t at = 0; at < messages.size(); ++at) {
    const Descriptor& type = *messages[at];
    for (int i = 0; i < type.nested_type_count(); ++i) {
      if (type.nested_type(i)->options().map_entry()) continue;
      messages.push_back(type.nested_type(i));
    }
  }
  return messages;
}

std::vector<const EnumDescriptor*> AllEnums() {
  std::vector<const EnumDescriptor*> enums;
  for (const FileDescriptor* const file : AllFiles()) {
    for (int i = 0; i < file->enum_type_count(); ++i) {
      enums.push_back(file->enum_type(i));
    }
  }
  for (const Descriptor* const type : AllMessages()) {
    for (int i = 0; i < type->enum_type_count(); ++i) {
      enums.push_back(type->enum_type(i));
    }
  }
  return enums;
}

const Descriptor* FindMessage(const std::string& word) {
  return FindNamed(AllMessages(), word);
}

const EnumDescriptor* FindEnum(const std::string& word) {
  return FindNamed(AllEnums(), word);
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
//
// contract-comments SET.binpb TABLE.cc: writes the comments of a descriptor set
// as the table of catalogue.h. The build runs it; users never do.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace frostline::cli {
namespace {

constexpr char kPackage[] = "frostline.v1";

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FileDescriptor;
// The comments by name, sorted for the binary search of the reader.
using CommentTable = std::map<std::string, std::string>;

// Joins the lines of paragraphs; the text is broken again for the terminal
// later.
std::string Paragraphs(const std::string& comment) {
  std::vector<std::string> paragraphs;
  for (const auto& part : absl::StrSplit(comment, "\n\n")) {
    const std::vector<std::string> words =
        absl::StrSplit(part, absl::ByAnyChar(" \n\t"), absl::SkipEmpty());
    if (!words.empty()) paragraphs.push_back(absl::StrJoin(words, " "));
  }
  return absl::StrJoin(paragraphs, "\n\n");
}

template <typename Declared>
void Note(const Declared& declared, CommentTable* table) {
  google::protobuf::SourceLocation place;
  if (!declared.GetSourceLocation(&place)) return;
  const std::string text = Paragraphs(
      absl::StrCat(place.leading_comments, "\n", place.trailing_comments));
  if (!text.empty()) (*table)[declared.full_name()] = text;
}

void NoteEnum(const EnumDescriptor& type, CommentTable* table) {
  Note(type, table);
  for (int i = 0; i < type.value_count(); ++i) Note(*type.value(i), table);
}

void NoteMessage(const Descriptor& type, CommentTable* table) {
  if (type.options().map_entry()) return;
  Note(type, table);
  for (int i = 0; i < type.field_count(); ++i) Note(*type.field(i), table);
  for (int i = 0; i < type.enum_type_count(); ++i) {
    NoteEnum(*type.enum_type(i), table);
  }
  for (int i = 0; i < type.nested_type_count(); ++i) {
    NoteMessage(*type.nested_type(i), table);
  }
}

void NoteFile(const FileDescriptor& file, CommentTable* table) {
  for (int i = 0; i < file.message_type_count(); ++i) {
    NoteMessage(*file.message_type(i), table);
  }
  for (int i = 0; i < file.enum_type_count(); ++i) {
    NoteEnum(*file.enum_type(i), table);
  }
  for (int i = 0; i < file.service_count(); ++i) {
    const auto& service = *file.service(i);
    Note(service, table);
    for (int j = 0; j < service.method_count(); ++j) {
      Note(*service.method(j), table);
    }
  }
}

void Write(const CommentTable& table, std::ostream& out) {
  out << "// Made by contract-comments from the comments of the contract.\n"
         "#include \"cli/contract/catalogue.h\"\n\n"
         "namespace frostline::cli {\n\n"
         "const CommentRow kCommentRows[] = {\n";
  for (const auto& [name, text] : table) {
    out << "    {\"" << name << "\",\n     \"" << absl::Utf8SafeCEscape(text)
        << "\"},\n";
  }
  out << "};\n\nconst std::size_t kCommentCount = " << table.size()
      << ";\n\n}  // namespace frostline::cli\n";
}

int Main(const std::string& set_file, const std::string& table_file) {
  google::protobuf::FileDescriptorSet set;
  std::ifstream in(set_file, std::ios::binary);
  if (!set.ParseFromIstream(&in)) {
    std::cerr << set_file << " is no descriptor set\n";
    return 1;
  }
  google::protobuf::DescriptorPool pool;
  CommentTable table;
  // Files stand behind those that they import.
  for (const auto& file : set.file()) {
    const FileDescriptor* const built = pool.BuildFile(file);
    if (built == nullptr) return 1;
    if (built->package() == kPackage) NoteFile(*built, &table);
  }
  std::ofstream out(table_file);
  Write(table, out);
  out.close();
  return table.empty() || !out ? 1 : 0;
}

}  // namespace
}  // namespace frostline::cli

int main(int argc, char** argv) {
  if (argc == 3) return frostline::cli::Main(argv[1], argv[2]);
  std::cerr << "contract-comments SET.binpb TABLE.cc\n";
  return 2;
}

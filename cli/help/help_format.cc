// SPDX-License-Identifier: Apache-2.0
#include "cli/help/help_format.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/help/examples.h"
#include "cli/help/type_words.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kColumn = 30;

const CLI::App& RootOf(const CLI::App& command) {
  const CLI::App* at = &command;
  while (at->get_parent() != nullptr) at = at->get_parent();
  return *at;
}

std::vector<const CLI::Option*> FlagsOf(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

// Of text whose characters are one column wide: UTF-8 begins each with a byte
// that is no 10xxxxxx.
std::size_t HelpColumnsOf(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
      }));
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() {
    column_width(kColumn);
    label("OPTIONS", "FLAGS");
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    const CLI::App& root = RootOf(*app);
    const std::string path = PathOf(*app);
    std::string text = Examples(path);
    // Not CLI11's words of how many of what is required.
    absl::StrAppend(&text, app->get_description(), "\n\n",
                    make_usage(app, app == &root ? path
                                                 : absl::StrCat(root.get_name(),
                                                                " ", path)),
                    make_positionals(app));
    if (app == &root) {
      absl::StrAppend(&text, Group("Global flags", FlagsOf(root)));
    } else {
      absl::StrAppend(&text, Group("Flags", FlagsOf(*app)));
    }
    absl::StrAppend(&text, make_subcommands(app, CLI::AppFormatMode::Normal));
    if (app != &root) {
      absl::StrAppend(&text, Group("Global flags", GlobalFlags(*app, root)));
    }
    return absl::StrCat(text, "\n", LastWords(*app));
  }

  // CLI11 counts bytes, of which "…" has three.
  std::string make_option(const CLI::Option* option,
                          bool is_positional) const override {
    std::string line =
        absl::StrCat("  ", make_option_name(option, is_positional),
                     make_option_opts(option));
    const std::string words = make_option_desc(option);
    if (words.empty()) return absl::StrCat(line, "\n");
    const std::size_t width = HelpColumnsOf(line);
    absl::StrAppend(
        &line, width < kColumn ? "" : "\n",
        std::string(width < kColumn ? kColumn - width : kColumn, ' '));
    return absl::StrCat(line, words, "\n");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    std::string text = absl::StrCat(" ", ShownType(option->get_type_name()));
    if (option->get_items_expected_max() > 1) absl::StrAppend(&text, " ...");
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (option->get_required() && option->nonpositional()) {
      absl::StrAppend(&text, " (required)");
    }
    if (option->get_type_size() != 0 && !option->get_default_str().empty()) {
      absl::StrAppend(&text, " [", option->get_default_str(), "]");
    }
    return text;
  }

 private:
  static std::string Examples(const std::string& path) {
    const std::vector<std::string> lines = ExamplesOf(path);
    if (lines.empty()) return "";
    return absl::StrCat("Examples:\n  ", absl::StrJoin(lines, "\n  "), "\n\n");
  }

  std::string Group(const std::string& title,
                    const std::vector<const CLI::Option*>& flags) const {
    return flags.empty() ? std::string() : make_group(title, false, flags);
  }

  // Its own --help stands among its own.
  static std::vector<const CLI::Option*> GlobalFlags(const CLI::App& app,
                                                     const CLI::App& root) {
    std::vector<const CLI::Option*> flags;
    for (const CLI::Option* const flag : FlagsOf(root)) {
      const std::string name = flag->get_name();
      const bool is_hidden = app.get_option_no_throw(name) != nullptr;
      if (!is_hidden && name != "--version") flags.push_back(flag);
    }
    return flags;
  }

  static std::string LastWords(const CLI::App& app) {
    std::string text = app.get_footer();
    if (!text.empty()) absl::StrAppend(&text, "\n\n");
    return absl::StrCat(text, "More: ", kDocs,
                        "; `frostline help exit-codes`, `frostline help "
                        "environment`\n");
  }
};

void Use(CLI::App& app, const std::shared_ptr<HelpFormat>& format) {
  app.formatter(format);
  for (CLI::App* const below : app.get_subcommands(nullptr)) {
    Use(*below, format);
  }
}

}  // namespace

std::string PathOf(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  std::string path = command.get_name();
  for (const CLI::App* at = command.get_parent(); at->get_parent() != nullptr;
       at = at->get_parent()) {
    path = absl::StrCat(at->get_name(), " ", path);
  }
  return path;
}

void UseHelpFormat(CLI::App& app) { Use(app, std::make_shared<HelpFormat>()); }

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/chat_template.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/plain/json.h"
#include "gmock/gmock.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

const ChatTemplate& Named(std::string_view name) {
  for (const ChatTemplate& each : ChatTemplates()) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << name;
  return ChatTemplates().front();
}

// What transformers' apply_chat_template made of five conversations.
TEST(ChatTemplate, WritesWhatTransformersWrites) {
  std::ifstream file(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                     "/tests/worker/trainer/text/data/chat.jsonl");
  std::map<std::string, int> seen;
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::Parse(line).value();
    const JsonValue& root = json.root();
    std::vector<ChatMessage> messages;
    for (const JsonValue* at = root.Find("messages")->first; at != nullptr;
         at = at->next) {
      messages.push_back({at->first->text, at->first->next->text});
    }
    const std::string name(root.Find("template")->text);
    ++seen[name];
    // Its day is the fixed one of Llama 3.1.
    const auto& form = Named(name == "Llama 3.2" ? "Llama 3.1" : name);
    EXPECT_EQ(WriteChat(form, messages, root.Find("asks")->truth).value(),
              root.Find("text")->text)
        << line;
  }
  EXPECT_EQ(seen.size(), 6U);
  for (const auto& [name, times] : seen) EXPECT_EQ(times, 7) << name;
}

TEST(ChatTemplate, IsFoundByItsMark) {
  const auto found = [](std::string_view program) {
    const ChatTemplate* const form = FindChatTemplate(program);
    return form == nullptr ? "" : std::string(form->name);
  };
  EXPECT_EQ(found("… assistant named SmolLM, trained …"), "SmolLM2");
  EXPECT_EQ(found("<|im_start|> You are Qwen, created by Alibaba Cloud."),
            "Qwen2.5");
  EXPECT_EQ(found("{% if enable_thinking is false %}"), "Qwen3");
  EXPECT_EQ(found("<|start_header_id|> Cutting Knowledge Date"), "Llama 3.1");
  EXPECT_EQ(found("'<|start_header_id|>' + role"), "Llama 3");
  EXPECT_EQ(found("[INST]"), "");
}

TEST(ChatTemplate, RefusesWhatNoFamilyKnows) {
  const ChatTemplate& form = ChatTemplates().front();
  EXPECT_FALSE(WriteChat(form, {}, true).ok());
  const std::vector<ChatMessage> tool = {{"user", "a"}, {"tool", "b"}};
  EXPECT_THAT(WriteChat(form, tool, true).fault().cause,
              HasSubstr("message 2"));
  const std::vector<ChatMessage> late = {{"user", "a"}, {"system", "b"}};
  EXPECT_FALSE(WriteChat(form, late, true).ok());
}

}  // namespace
}  // namespace frostline::trainer

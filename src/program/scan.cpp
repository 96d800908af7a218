#include <algorithm>
#include <set>

#include "program/model.hpp"
#include "program/schema.hpp"
#include "program/tokens.hpp"

namespace ringkernel::program {
namespace {

bool opens_type(std::string_view word) {
  return word == "table" || word == "struct" || word == "enum" || word == "union" ||
         word == "rpc_service";
}

/// The members of the type: a name at the beginning, or behind a ';', a ',' or a '}', outside of
/// parentheses.
void find_members(Tokens& tokens, const std::string& type, Lines& lines) {
  int parentheses = 0;
  bool begins = true;
  for (std::string_view token; !(token = tokens.next()).empty() && token != "}";) {
    if (begins && token != ";") lines.emplace(type + "." + std::string(token), tokens.line());
    if (token == "(") ++parentheses;
    if (token == ")") --parentheses;
    begins = parentheses == 0 && (token == ";" || token == ",");
  }
}

/// What is wrong with a handler; empty where nothing is.
std::string mistake_of(const Schema& schema, const std::string& behaviour,
                       const std::string& method) {
  const std::vector<Behaviour>& all = schema.behaviours();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Behaviour& one) { return one.name == behaviour; });
  if (found == all.end())
    return "there is no behaviour " + behaviour + "; there is " + names_of(all);
  for (const Method& one : found->methods)
    if (one.name == method) return {};
  return behaviour + " has no method " + method + "; it has " + names_of(found->methods);
}

/// What the names of a reply's writers begin with: "Ack".
std::string table_of(const Behaviour& behaviour, const Method& method) {
  const std::string name_space =
      behaviour.full_name.substr(0, behaviour.full_name.size() - behaviour.name.size());
  std::string type = method.reply;
  if (type.compare(0, name_space.size(), name_space) == 0 &&
      type.find('.', name_space.size()) == std::string::npos)
    type.erase(0, name_space.size());
  std::replace(type.begin(), type.end(), '.', '_');
  return type;
}

/// Of a field that a reply would have with a maximum; else empty.
std::string unbounded(const Schema& schema, const std::string& table, const std::string& field) {
  const std::string writer = table + "_put_" + field;
  if (schema.device_header().find(" there is no " + writer + ".\n") == std::string::npos) return {};
  return "a reply has room for " + field + " only with (max: n) in the schema; then use " + writer;
}

/// What to do instead of `reply->field` of what is no member of its struct; empty: nothing is
/// known.
std::string remedy_of(const Schema& schema, const std::string& table, const std::string& field) {
  for (const char* const verb : {"_set_", "_put_"}) {
    const std::string writer = table + verb + field;
    if (schema.device_header().find(" " + writer + "(RK_GLOBAL ") != std::string::npos)
      return "the reply has no member " + field + ": use " + writer;
  }
  return unbounded(schema, table, field);
}

}  // namespace

std::vector<ReplyMistake> find_reply_mistakes(const Schema& schema,
                                              std::span<const HandlerText> files) {
  std::vector<ReplyMistake> mistakes;
  for (const HandlerText& file : files) {
    std::string table;  // of the handler's reply; empty outside of handlers
    int depth = 0;
    Tokens tokens(file.text);
    for (std::string_view token; !(token = tokens.next()).empty();) {
      if (token == "{") ++depth;
      if (token == "}" && --depth == 0) table.clear();
      if (token == "RK_ON" && tokens.next() == "(") {
        const Behaviour* const behaviour = schema.find_behaviour(tokens.next());
        tokens.next();
        const Method* const method =
            behaviour != nullptr ? behaviour->find_method(tokens.next()) : nullptr;
        table = method != nullptr ? table_of(*behaviour, *method) : std::string();
        depth = 0;
      }
      if (table.empty()) continue;
      std::string remedy;
      if (const std::string put = table + "_put_"; token.starts_with(put))
        remedy = unbounded(schema, table, std::string(token.substr(put.size())));
      else if (token == "reply" && tokens.next() == "-" && tokens.next() == ">")
        remedy = remedy_of(schema, table, std::string(tokens.next()));
      if (!remedy.empty()) mistakes.push_back({file.name, tokens.line(), std::move(remedy)});
    }
  }
  return mistakes;
}

std::vector<std::string> find_handler_mistakes(const Schema& schema, const SchemaSource& from,
                                               std::span<const HandlerText> files) {
  std::vector<std::string> mistakes;
  std::set<std::string> handlers;
  std::set<std::string> migrations;
  for (const HandlerText& file : files) {
    Tokens tokens(file.text);
    for (std::string_view token; !(token = tokens.next()).empty();) {
      if (token == "RK_MIGRATE" && tokens.next() == "(") migrations.emplace(tokens.next());
      if (token != "RK_ON" || tokens.next() != "(") continue;
      const std::string behaviour(tokens.next());
      const bool comma = tokens.next() == ",";
      const std::string method(tokens.next());
      if (!comma) continue;
      std::string mistake = mistake_of(schema, behaviour, method);
      if (!handlers.insert(behaviour + ", " + method).second)
        mistake = "a second RK_ON(" + behaviour + ", " + method + ")";
      if (!mistake.empty())
        mistakes.push_back(file.name + ":" + std::to_string(tokens.line()) + ": " + mistake);
    }
  }
  const auto add_missing = [&](const std::string& declared, const std::string& wanted) {
    const auto line = from.lines.find(declared);
    mistakes.push_back(from.file +
                       (line == from.lines.end() ? "" : ":" + std::to_string(line->second)) +
                       ": no " + wanted + " in " + files.front().name);
  };
  for (const Behaviour& behaviour : schema.behaviours()) {
    if (behaviour.state && behaviour.state->migrates && migrations.count(behaviour.name) == 0)
      add_missing(behaviour.state->name, "RK_MIGRATE(" + behaviour.name + ")");
    for (const Method& method : behaviour.methods) {
      const std::string handler = behaviour.name + ", " + method.name;
      if (handlers.count(handler) == 0) add_missing(method.full_name, "RK_ON(" + handler + ")");
    }
  }
  return mistakes;
}

bool may_hide_handlers(std::string_view source) {
  while (!source.empty()) {
    std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(line.size() + 1, source.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.substr(0, 1) != "#") continue;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    // A macro may go on in the next lines; most that are there have nothing to do with handlers.
    const bool makes = line.substr(0, 6) == "define" &&
                       (line.find("RK_") != line.npos || line.find('\\') != line.npos);
    if (makes || line.substr(0, 2) == "if") return true;
  }
  return false;
}

Lines find_lines(std::string_view schema) {
  Lines lines;
  Tokens tokens(schema);
  std::string prefix;
  for (std::string_view token; !(token = tokens.next()).empty();) {
    if (token == "namespace") {
      const std::string_view name = tokens.next();
      prefix = name == ";" ? std::string() : std::string(name) + ".";
    } else if (opens_type(token)) {
      const std::string type = prefix + std::string(tokens.next());
      lines.emplace(type, tokens.line());
      while (!(token = tokens.next()).empty() && token != "{") {
      }
      find_members(tokens, type, lines);
    }
  }
  return lines;
}

}  // namespace ringkernel::program

#include "schema/schema_text.hpp"

#include <flatbuffers/idl.h>
#include <flatbuffers/util.h>

#include <regex>
#include <sstream>

namespace ringkernel::program {
namespace {

// Of the language's style, which is not ours to judge.
constexpr std::string_view style_warning = "field names should be lowercase snake_case";

/// Of what the parser says, the first that matters: its "/folder/FILE:3: 2: error: REASON" as
/// "FILE:3:2: REASON". Empty where nothing does.
std::string first_reason(const std::string& said, const std::string& file) {
  static const std::regex shape("(.*):([0-9]+): ([0-9]+): (error|warning): (.*)");
  std::istringstream lines(said);
  std::smatch parts;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.find(style_warning) != std::string::npos) continue;
    if (!std::regex_match(line, parts, shape)) return line;
    const std::string where = parts[1] == flatbuffers::AbsolutePath(file) ? file : parts[1].str();
    return where + ":" + parts[2].str() + ":" + parts[3].str() + ": " + parts[5].str();
  }
  return {};
}

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash + 1);
}

}  // namespace

Result<std::vector<std::byte>> to_binary(const SchemaText& schema) {
  const auto refused = [&](const std::string& reason) {
    return Error(Errc::invalid_argument, reason);
  };
  if (schema.text.size() > schema_bytes_max)
    return refused(schema.file + ": " + std::to_string(schema.text.size()) +
                   " bytes of text, at most " + std::to_string(schema_bytes_max));
  if (schema.text.find('\0') != std::string::npos)
    return refused(schema.file + ": a zero byte in the text");
  flatbuffers::IDLOptions options;
  options.binary_schema_comments = true;
  options.binary_schema_builtins = true;
  flatbuffers::Parser parser(options);
  const std::string here = folder_of(schema.file);
  std::vector<const char*> folders{here.c_str()};
  for (const std::string& folder : schema.folders) folders.push_back(folder.c_str());
  folders.push_back(nullptr);
  const bool parsed = parser.Parse(schema.text.c_str(), folders.data(), schema.file.c_str());
  const std::string reason = first_reason(parser.error_, schema.file);
  if (!parsed || !reason.empty()) return refused(reason);
  parser.Serialize();
  const auto* const bytes = reinterpret_cast<const std::byte*>(parser.builder_.GetBufferPointer());
  return std::vector<std::byte>(bytes, bytes + parser.builder_.GetSize());
}

Result<Schema> from_text(const SchemaText& schema) {
  RK_TRY(bfbs, to_binary(schema));
  return Schema::from_binary(bfbs, {schema.file, find_lines(schema.text)});
}

}  // namespace ringkernel::program

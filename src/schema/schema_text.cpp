#include "schema/schema_text.hpp"

#include <flatbuffers/idl.h>

#include <regex>

namespace ringkernel::program {
namespace {

/// The parser's "FILE:3: 2: error: REASON, originally at: :2" as "FILE:3:2: REASON".
std::string readable(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  text = text.substr(text.rfind('\n') + 1);
  static const std::regex shape("(.*):([0-9]+): ([0-9]+): (error|warning): (.*)");
  std::smatch parts;
  if (!std::regex_match(text, parts, shape)) return text;
  return parts[1].str() + ":" + parts[2].str() + ":" + parts[3].str() + ": " + parts[5].str();
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
  if (!parser.Parse(schema.text.c_str(), folders.data(), schema.file.c_str()) ||
      !parser.error_.empty())
    return refused(readable(parser.error_));
  parser.Serialize();
  const auto* const bytes = reinterpret_cast<const std::byte*>(parser.builder_.GetBufferPointer());
  return std::vector<std::byte>(bytes, bytes + parser.builder_.GetSize());
}

Result<Schema> from_text(const SchemaText& schema) {
  RK_TRY(bfbs, to_binary(schema));
  return Schema::from_binary(bfbs, {schema.file, find_lines(schema.text)});
}

}  // namespace ringkernel::program

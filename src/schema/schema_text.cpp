#include "schema/schema_text.hpp"

#include <flatbuffers/idl.h>
#include <flatbuffers/util.h>

#include <utility>

#include "foundation/memory_error.hpp"
#include "ringkernel/schema_text.hpp"
#include "schema/parser_message.hpp"

namespace ringkernel::program {
namespace {

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

namespace ringkernel {

Result<Schema> schema_from_text(std::string name, std::string text,
                                std::vector<std::string> folders) {
  return or_no_memory([&]() -> Result<Schema> {
    RK_TRY(bfbs, program::to_binary({text, name, std::move(folders)}));
    std::string bytes(reinterpret_cast<const char*>(bfbs.data()), bfbs.size());
    return Schema::binary(std::move(name), std::move(bytes), std::move(text));
  });
}

}  // namespace ringkernel

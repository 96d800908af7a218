#include "inputs.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#if defined(RK_HAS_SCHEMA_TEXT)
#include "schema/schema_text.hpp"
#endif

namespace rkc {

namespace {

using ringkernel::Errc;
using ringkernel::Error;
using ringkernel::Result;
using ringkernel::Schema;

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Result<std::string> read_file(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) return Error(Errc::invalid_argument, path + " cannot be read");
  return content;
}

Result<Schema> schema_of_text(const std::string& path, [[maybe_unused]] const std::string& text) {
#if defined(RK_HAS_SCHEMA_TEXT)
  RK_TRY(bytes, ringkernel::program::to_binary({.text = text, .file = path, .folders = {}}));
  return Schema::binary(file_name(path),
                        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                        text);
#else
  return Error(Errc::unsupported_operation,
               path +
                   ": this rkc was built without the parser of schemas; make it binary: flatc "
                   "-b --schema --bfbs-comments --bfbs-builtins");
#endif
}

Result<Schema> schema_of(const Inputs& inputs, const Contents& contents) {
  if (inputs.schema.empty()) return Schema();
  if (inputs.schema.ends_with(".fbs")) return schema_of_text(inputs.schema, contents.schema);
  const std::string& named = inputs.text.empty() ? inputs.schema : inputs.text;
  return Schema::binary(file_name(named), contents.schema, contents.text);
}

}  // namespace

Result<Contents> read(const Inputs& inputs) {
  RK_TRY(source, read_file(inputs.source));
  RK_TRY(schema, read_file(inputs.schema));
  RK_TRY(text, read_file(inputs.text));
  Contents contents{source, {}, schema, text};
  for (const std::string& header : inputs.headers) {
    RK_TRY(content, read_file(header));
    contents.headers.push_back(std::move(content));
  }
  return contents;
}

Result<void> write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) return Error(Errc::invalid_argument, path + " cannot be written");
  return {};
}

Result<ringkernel::ProgramDesc> describe(const std::string& name, const Inputs& inputs,
                                         const Contents& contents) {
  const std::string file = file_name(inputs.source);
  RK_TRY(schema, schema_of(inputs, contents));
  ringkernel::ProgramDesc program;
  program.name = name.empty() ? file.substr(0, file.find('.')) : name;
  program.source = ringkernel::Source::text(file, contents.source);
  for (std::size_t i = 0; i < inputs.headers.size(); ++i)
    program.headers.push_back(
        ringkernel::Source::text(file_name(inputs.headers[i]), contents.headers[i]));
  program.schema = schema;
  return program;
}

}  // namespace rkc

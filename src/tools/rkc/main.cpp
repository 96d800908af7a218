// rkc: what a build makes of a program's files, before there is a runtime: the header for handlers,
// and the text that a compiler of the host gets. It compiles nothing itself.
// Exit code 0: done, 1: the program or its schema is refused, 2: a file cannot be read or written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "inputs.hpp"
#include "unit.hpp"

namespace {

using ringkernel::Result;
using ringkernel::program::Definition;

constexpr int refused = 1;
constexpr int no_file = 2;

int fail(const ringkernel::Error& error, int exit_code) {
  // Each line by itself: of a place, so that editors find it.
  const bool has_place = error == ringkernel::Errc::build_failed;
  fmt::print(stderr, "{}{}\n", has_place ? "" : "rkc: ", error.detail);
  return exit_code;
}

/// To the standard output where no file is named.
int write(const std::string& path, const std::string& content) {
  if (path.empty() || path == "-") {
    const bool is_written =
        std::fwrite(content.data(), 1, content.size(), stdout) == content.size() &&
        std::fflush(stdout) == 0;
    return is_written ? 0 : no_file;
  }
  const Result<void> written = rkc::write_file(path, content);
  return written.has_value() ? 0 : fail(written.error(), no_file);
}

int run(const std::string& name, const rkc::Inputs& inputs, const std::string& output,
        bool only_header) {
  const auto contents = rkc::read(inputs);
  if (!contents.has_value()) return fail(contents.error(), no_file);
  auto program = rkc::describe(name, inputs, *contents);
  if (!program.has_value()) return fail(program.error(), refused);
  // A header is that of the schema, whatever the handlers are.
  if (only_header) program->source = ringkernel::Source::text("none.rk.cl", "");
  const auto definition = Definition::of(*program);
  if (!definition.has_value()) return fail(definition.error(), refused);
  const Definition& made = **definition;
  if (only_header) return write(output, made.info(1).header);
  const Result<void> checked = made.check_handlers();
  if (!checked.has_value()) return fail(checked.error(), refused);
  std::string handlers = contents->source;
  for (const std::string& header : contents->headers) handlers += "\n" + header;
  return write(output, rkc::hosted_unit(made, handlers));
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Makes of a program's source and schema what compilers are given");
  app.require_subcommand(1);
  rkc::Inputs inputs;
  std::string name;
  std::string output;
  const char* const of_schema = "Binary schema (flatc -b --schema), or its text: FILE.fbs";
  const char* const of_text = "What the binary schema was made of: gives errors their lines";

  CLI::App* const header = app.add_subcommand("header", "The header that handlers include");
  header->add_option("schema", inputs.schema, of_schema)->required();
  header->add_option("--text", inputs.text, of_text);
  header->add_option("-o,--output", output, "File to write; without it, the standard output");

  CLI::App* const unit =
      app.add_subcommand("unit", "The translation unit in C++20 that makes the program native");
  unit->add_option("source", inputs.source, "The handlers")->required();
  unit->add_option("--header", inputs.headers, "A file that the handlers include; repeat it");
  unit->add_option("--schema", inputs.schema, of_schema);
  unit->add_option("--text", inputs.text, of_text);
  unit->add_option("--name", name, "The program's; without it, as its source is called");
  unit->add_option("-o,--output", output, "File to write")->required();
  CLI11_PARSE(app, argument_count, arguments);

  const bool only_header = header->parsed();
  return run(only_header ? "header" : name, inputs, output, only_header);
}

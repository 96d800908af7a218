// rkc: what is made of a program's files before there is a runtime: the header for handlers, and
// the text that a compiler of the host gets, for a build; and what is wrong with the handlers. Exit
// code 0: done, 1: the program or its schema is refused, 2: a file cannot be read or written. Of
// `check` 0: nothing found, 1: findings, 2: it could not check.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "inputs.hpp"
#include "unit.hpp"
#if defined(RK_HAS_SCHEMA_TEXT)
#include "check.hpp"
#include "lanes.hpp"
#endif

namespace {

using ringkernel::Result;
using ringkernel::program::Definition;

constexpr int refused = 1;
constexpr int no_file = 2;
constexpr int wrong_arguments = 2;
[[maybe_unused]] constexpr int not_checked = 2;

constexpr const char* of_schema = "Binary schema (flatc -b --schema), or its text: FILE.fbs";
constexpr const char* of_header = "A file that the handlers include; repeat it for each";
constexpr const char* of_text = "What the binary schema was made of: gives errors their lines";

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

#if defined(RK_HAS_SCHEMA_TEXT)
/// What `check`, and what it starts on Oclgrind, are given.
struct Checking {
  rkc::Inputs inputs;
  rkc::CheckOptions options;
  rkc::LanesInputs lanes;
};

void add_check(CLI::App& app, Checking& to) {
  CLI::App* const check = app.add_subcommand(
      "check",
      "Runs every handler over messages made up from the schema, natively with sanitizers and on "
      "Oclgrind with several lanes, and tells what goes wrong");
  check->add_option("source", to.inputs.source, "The handlers")->required();
  check->add_option("schema", to.inputs.schema, of_schema)->required();
  check->add_option("--text", to.inputs.text, of_text);
  check->add_option("--header", to.inputs.headers, of_header);
  check->add_option("--seed", to.options.seed, "Other messages for another seed")
      ->capture_default_str();
  check->add_option("--count", to.options.count, "Messages for each method")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  check->add_option("--lanes", to.options.lanes, "Numbers of lanes on Oclgrind: 1,8,64")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  check->add_option("--seconds", to.options.seconds, "Processor time that a message may take")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  CLI::App* const run_lanes = app.add_subcommand("run-lanes")->group("");
  run_lanes->add_option("lanes", to.lanes.lanes)->required();
  run_lanes->add_option("text", to.lanes.text)->required();
  run_lanes->add_option("messages", to.lanes.messages)->required();
  run_lanes->add_option("results", to.lanes.results)->required();
  run_lanes->add_option("log", to.lanes.log)->required();
  run_lanes->add_option("seconds", to.lanes.seconds)->required();
}

int run_check(const Checking& checking) {
  const auto contents = rkc::read(checking.inputs);
  if (!contents.has_value()) return fail(contents.error(), not_checked);
  const auto program = rkc::describe("", checking.inputs, *contents);
  if (!program.has_value()) return fail(program.error(), not_checked);
  const auto definition = Definition::of(*program);
  if (!definition.has_value()) return fail(definition.error(), not_checked);
  const auto report = rkc::check(*program, **definition, checking.options);
  if (!report.has_value()) {
    if (report.error() == ringkernel::Errc::build_failed) return fail(report.error(), not_checked);
    fmt::print(stderr, "rkc: {}\n", report.error().text());
    return not_checked;
  }
  fmt::print("{}", report->text);
  return report->is_clean ? 0 : 1;
}
#else
void add_check(CLI::App& app) {
  app.add_subcommand("check", "Not in this build, which is without the parser of schemas")
      ->allow_extras()
      ->callback([] {
        fmt::print(stderr,
                   "rkc: this rkc was built without libflatbuffers, which makes messages\n");
        std::exit(wrong_arguments);
      });
}
#endif

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Makes of a program's source and schema what compilers are given");
  app.require_subcommand(1);
  rkc::Inputs inputs;
  std::string name;
  std::string output;

  CLI::App* const header = app.add_subcommand("header", "The header that handlers include");
  header->add_option("schema", inputs.schema, of_schema)->required();
  header->add_option("--text", inputs.text, of_text);
  header->add_option("-o,--output", output, "File to write; without it, the standard output");

  CLI::App* const unit =
      app.add_subcommand("unit", "The translation unit in C++20 that makes the program native");
  unit->add_option("source", inputs.source, "The handlers")->required();
  unit->add_option("--header", inputs.headers, of_header);
  unit->add_option("--schema", inputs.schema, of_schema);
  unit->add_option("--text", inputs.text, of_text);
  unit->add_option("--name", name, "The program's; without it, as its source is called");
  unit->add_option("-o,--output", output, "File to write")->required();

#if defined(RK_HAS_SCHEMA_TEXT)
  Checking checking;
  add_check(app, checking);
#else
  add_check(app);
#endif
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : wrong_arguments;
  }

#if defined(RK_HAS_SCHEMA_TEXT)
  if (app.got_subcommand("run-lanes")) return rkc::run_lanes(checking.lanes);
  if (app.got_subcommand("check")) return run_check(checking);
#endif
  const bool only_header = header->parsed();
  return run(only_header ? "header" : name, inputs, output, only_header);
}

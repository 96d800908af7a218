#include "ringkernel/mlir.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "backend/cache/cache_place.hpp"
#include "foundation/hash.hpp"
#include "foundation/memory_error.hpp"
#include "mlir/reader.hpp"
#include "ringkernel/version.hpp"

namespace ringkernel::mlir {
namespace {

Result<Graph> read_told(std::string_view text, const Options& options, Diagnostics& told,
                        std::string* recording) {
  RK_TRY(library, Library::find(options.library));
  RK_TRY(module, Module::parse(*library, text, options.name.empty() ? "-" : options.name, told));
  RK_TRY_VOID(module->simplify());
  return Reader(*module, options).read(told, recording);
}

Result<Graph> read_and_tell(std::string_view text, const Options& options, std::string* recording) {
  Diagnostics told;
  Result<Graph> graph = read_told(text, options, told, recording);
  const auto is_error = [](const Diagnostic& one) { return one.severity == Severity::error; };
  if (!graph && std::ranges::none_of(told, is_error))
    told.push_back({Severity::error, graph.error().detail, {}, {}});
  if (options.diagnostics != nullptr) *options.diagnostics = std::move(told);
  return graph;
}

/// All that a graph of the text depends on. Every part has its length in front.
std::string key_of(std::string_view text, const Options& options) {
  std::string key = "mlir";
  const auto add = [&key](std::string_view part) {
    key += " " + std::to_string(part.size()) + ":";
    key += part;
  };
  for (const std::string& part : {options.function, options.name, options.library}) add(part);
  for (const auto& [argument, result] : options.state)
    key += " " + std::to_string(argument) + ">" + std::to_string(result);
  add(text);
  return key;
}

/// What an entry on the disk is called. It tells apart what other builds have stored: their
/// version, and what an op's attributes are to them. `reader` changes with what a text becomes.
std::string stored_name_of(std::string_view key) {
  constexpr int reader = 1;
  constexpr std::string_view attributes =
#define RK_ATTRIBUTE(kind, field, initial, text, rules) #kind #field
#include "ringkernel/protocol/attrs.def"
      ;
  const std::array<std::uint64_t, 4> numbers{
      std::uint64_t{reader} << 32 | version_major << 16 | version_minor << 8 | version_patch,
      fnv1a(attributes), fnv1a(key), key.size()};
  std::string name = "graph";
  for (const std::uint64_t number : numbers) name += " " + std::to_string(number);
  return name;
}

/// What an earlier process has stored needs no MLIR, and is checked as it is made again.
Result<Graph> restored_or_read(std::string_view key, std::string_view text,
                               const Options& options) {
  const std::optional<backend::CacheFolder> folder = backend::open_cache();
  if (!folder) return read_and_tell(text, options, nullptr);
  // An entry begins with the whole key: names that are alike by chance, or design, are told apart.
  const std::string name = stored_name_of(key);
  std::string entry;
  if (folder->load(name, entry) == backend::Lookup::hit && entry.starts_with(key))
    if (Result<Graph> graph = replayed(std::string_view(entry).substr(key.size()))) return graph;
  entry = key;
  Result<Graph> graph = read_and_tell(text, options, &entry);
  if (graph) folder->store(name, entry);
  return graph;
}

}  // namespace

Result<Graph> read(std::string_view text, const Options& options) {
  return or_no_memory([&] { return read_and_tell(text, options, nullptr); });
}

Result<CompiledFunction> get_or_compile(RingKernelRuntime& runtime, std::string_view text,
                                        std::span<const TensorDesc> inputs, const Options& options,
                                        const FunctionOptions& function_options) {
  return or_no_memory([&] {
    if (options.diagnostics != nullptr) options.diagnostics->clear();
    const std::string key = key_of(text, options);
    return runtime.get_or_compile(
        key, inputs, [&] { return restored_or_read(key, text, options); }, function_options);
  });
}

}  // namespace ringkernel::mlir

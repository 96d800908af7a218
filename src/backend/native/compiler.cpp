#include "backend/native/compiler.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <optional>
#include <string_view>

#include "backend/cache/cache_place.hpp"
#include "backend/native/child.hpp"
#include "backend/native/programs.hpp"
#include "backend/native/scratch_folder.hpp"
#include "foundation/file.hpp"
#include "kernels/rk_actor.h"
#include "kernels/rk_hosted_abi.h"

namespace ringkernel::native {

namespace {

using ProgramPointer = std::shared_ptr<const CompiledProgram>;
using Query = const rk_hosted_program* (*)(rk_u32 abi);

constexpr const char* query_name = "rk_program_query";
constexpr const char* source_name = "program.cpp";
constexpr const char* object_name = "program.so";
constexpr std::uint64_t object_bytes_max = 64ull * 1024 * 1024;

/// Of a compiler's words, as many as a person reads.
constexpr std::size_t readable_lines_max = 60;
constexpr std::size_t readable_bytes_max = std::size_t{8} * 1024;

Error of_program(const std::string& name, Error error) {
  error.detail = "program '" + name + "': " + error.detail;
  return error;
}

/// Without the folder of the moment, and no longer than is of use.
std::string readable(std::string words, const std::string& folder, bool is_cut) {
  const std::string prefix = folder + "/";
  for (std::size_t at = 0; (at = words.find(prefix, at)) != std::string::npos;)
    words.erase(at, prefix.size());
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < readable_lines_max && end < words.size(); ++lines) {
    const std::size_t next = std::min(words.find('\n', end), words.size() - 1) + 1;
    if (next > readable_bytes_max) {
      if (lines == 0) end = readable_bytes_max;
      break;
    }
    end = next;
  }
  is_cut = is_cut || end < words.size();
  words.resize(end);
  while (words.ends_with('\n')) words.pop_back();
  return is_cut ? words + "\n(and more)" : words;
}

/// A name for the descriptor that no library was opened under before: the dynamic linker takes two
/// files of one name for one, and numbers of descriptors return.
std::string unused_name_of(int file) {
  static std::atomic<std::uint64_t> names{0};
  // relaxed: every number is given once; it orders nothing
  std::uint64_t number = names.fetch_add(1, std::memory_order_relaxed);
  std::string path = "/proc/self/fd/";
  for (; number != 0; number >>= 1) path += (number & 1u) != 0 ? "./" : "/";
  return path + std::to_string(file);
}

/// A file in memory: it can be executed from wherever the folders of the user cannot.
File memory_file(std::string_view content) {
#if defined(MFD_EXEC)
  constexpr unsigned executable = MFD_EXEC;
#else
  constexpr unsigned executable = 0x10;  // since Linux 6.3
#endif
  File file(memfd_create("ringkernel-program", MFD_CLOEXEC | executable));
  if (!file) file = File(memfd_create("ringkernel-program", MFD_CLOEXEC));
  if (file && !write_whole(file.get(), content)) return File(-1);
  return file;
}

Result<backend::SharedLibrary> open_library(const std::string& path) {
  const std::string candidates[] = {path};
  const char* const symbols[] = {query_name};
  std::vector<std::string> tried;
  auto library = backend::SharedLibrary::open(candidates, symbols, tried);
  if (library.has_value()) return library;
  // Its path, which begins the text, says nothing to anybody.
  const std::size_t reason = tried.empty() ? 0 : path.size() + std::string_view(" - ").size();
  return Error(Errc::build_failed,
               "the object could not be loaded: " +
                   (reason < tried.back().size() ? tried.back().substr(reason) : tried.back()));
}

Result<backend::SharedLibrary> open_object(const std::string& object,
                                           std::span<const std::string> scratch) {
  if (const File file = memory_file(object)) {
    auto library = open_library(unused_name_of(file.get()));
    if (library.has_value()) return library;
  }
  // Where there is no /proc, or memory is not to be executed. This also says why, if it is neither.
  RK_TRY(folder, ScratchFolder::make(scratch));
  if (!folder.write(object_name, object))
    return Error(Errc::build_failed, "the object could not be written into " + folder.path());
  return open_library(folder.path() + "/" + object_name);
}

/// What the program says of itself, if this host can call it.
Result<const rk_hosted_program*> described(Query query) {
  const rk_hosted_program* const program = query(RK_HOSTED_ABI);
  const std::string ours = ", this library " + std::to_string(RK_HOSTED_ABI);
  if (program == nullptr)
    return Error(Errc::protocol_mismatch, "the object speaks another interface" + ours);
  if (program->abi != RK_HOSTED_ABI)
    return Error(Errc::protocol_mismatch,
                 "the object has interface " + std::to_string(program->abi) + ours);
  if (program->struct_bytes < sizeof *program)
    return Error(Errc::protocol_mismatch,
                 "the object describes itself in " + std::to_string(program->struct_bytes) +
                     " bytes, and not in " + std::to_string(sizeof *program));
  if (program->message_bytes != sizeof(rk_message))
    return Error(Errc::protocol_mismatch,
                 "the object has messages of " + std::to_string(program->message_bytes) +
                     " bytes, this library of " + std::to_string(sizeof(rk_message)));
  if (program->handler == nullptr)
    return Error(Errc::protocol_mismatch, "the object names no handler");
  return program;
}

Result<ProgramPointer> load(const std::string& object, std::span<const std::string> scratch,
                            bool was_kept) {
  RK_TRY(library, open_object(object, scratch));
  RK_TRY(program, described(reinterpret_cast<Query>(library.find(query_name))));
  return std::make_shared<const CompiledProgram>(std::move(library), *program, was_kept);
}

/// The bytes of the object.
Result<std::string> compile(const Toolchain& toolchain, const std::string& text,
                            const Surroundings& surroundings,
                            std::span<const std::string> scratch) {
  RK_TRY(folder, ScratchFolder::make(scratch));
  if (!folder.write(source_name, text))
    return Error(Errc::build_failed, "the source could not be written into " + folder.path());
  // It works there, so that it does not take a file that lies about for one that `#line` names,
  // and show lines of it.
  RK_TRY(ended, run_child({toolchain.command(source_name, object_name),
                           compiler_variables(surroundings, folder.path()), folder.path(),
                           surroundings.deadline}));
  std::string object;
  if (!ended.has_failed() && folder.read(object_name, object, object_bytes_max)) return object;
  std::string words = readable(without_warnings(ended.output), folder.path(), ended.is_cut);
  if (words.empty()) words = "nothing, and wrote no object";
  return Error(Errc::build_failed, toolchain.path() + " says:\n" + words);
}

Result<ProgramPointer> compile_or_load(const std::string& text, const Surroundings& surroundings) {
  const auto kept = backend::open_cache_at(surroundings.cache_folder);
  std::vector<std::string> scratch;
  if (kept) scratch.push_back(surroundings.cache_folder);
  scratch.insert(scratch.end(), surroundings.scratch.begin(), surroundings.scratch.end());
  const Result<Toolchain> toolchain = Toolchain::find(surroundings, kept ? &*kept : nullptr);
  std::string key;
  if (toolchain)
    key = toolchain->key();
  else if (kept && toolchain.error() == Errc::backend_unavailable)
    key = Toolchain::remembered_key(surroundings, *kept);
  const bool has_key = kept && !key.empty();
  if (has_key) key += text;
  std::string object;
  if (has_key && kept->load(key, object) == backend::Lookup::hit) {
    auto program = load(object, scratch, true);
    if (program.has_value()) return program;
  }
  if (!toolchain) return toolchain.error();
  RK_TRY(made, compile(*toolchain, text, surroundings, scratch));
  auto program = load(made, scratch, false);
  if (program.has_value() && has_key) {
    kept->store(key, made);
    toolchain->remember(*kept);
  }
  return program;
}

}  // namespace

Result<ProgramPointer> compile_program(const std::string& name, const std::string& text,
                                       const Surroundings& surroundings) {
  auto program = compile_or_load(text, surroundings);
  if (program.has_value()) return program;
  return of_program(name, std::move(program).error());
}

const rk_hosted_program* find_compiled(const rk_compiled_program* builds) {
  if (builds == nullptr) return nullptr;
  for (; builds->query != nullptr; ++builds) {
    if (builds->level > processor_level()) continue;
    const auto program = described(builds->query);
    if (program.has_value()) return *program;
  }
  return nullptr;
}

}  // namespace ringkernel::native

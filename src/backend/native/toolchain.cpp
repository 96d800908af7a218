#include "backend/native/toolchain.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "backend/cache/cache_place.hpp"
#include "backend/native/child.hpp"
#include "foundation/environment.hpp"
#include "foundation/file.hpp"
#include "kernels/rk_actor.h"
#include "ringkernel/protocol/version.h"

namespace ringkernel::native {

namespace {

constexpr const char* last_compiler = "ringkernel compiler of the last program\n";

constexpr const char* usual_names[] = {"c++", "g++", "clang++"};

constexpr const char* flags[] = {
    "-std=c++20", "-O2",
#if defined(__x86_64__)
    "-march=native",
#elif defined(__aarch64__)
    "-mcpu=native",
#endif
    // The same bits as on every other device, and vectors where they make no difference.
    "-ffp-contract=off", "-fno-math-errno",
    // A source for devices reads bytes as what they are, and its loops need not end.
    "-fno-strict-aliasing", "-fno-finite-loops", "-fPIC", "-shared", "-fvisibility=hidden",
    "-fno-exceptions", "-fno-rtti", "-fstack-clash-protection",
    // What fails is to be read: no colours in it, and not all that follows. Not -w: rk_actor.h
    // makes errors of some warnings.
    "-fdiagnostics-color=never", "-fmax-errors=20",
    // Nothing that is not used is linked, and what is missing is missed now.
    "-nostartfiles", "-nodefaultlibs", "-Wl,-z,defs"};

constexpr const char* libraries[] = {"-lm", "-lc", "-lgcc"};

/// Of the environment, what compilers need to start. What would change their output (CPATH and the
/// like) is left out, since objects are kept for the next process.
constexpr const char* passed_on[] = {"HOME", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR"};

bool is_program(const std::string& path, struct stat& what) {
  return stat(path.c_str(), &what) == 0 && S_ISREG(what.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// The absolute folders of a PATH.
std::vector<std::string> folders_of(std::string_view path) {
  std::vector<std::string> folders;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string_view folder = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (folder.starts_with('/')) folders.emplace_back(folder);
  }
  return folders;
}

struct FoundCompiler {
  std::string path;
  struct stat what;
};

/// The program `name` of the first folder that has it; else no path.
FoundCompiler program_of(const std::string& name, const std::vector<std::string>& folders) {
  FoundCompiler found{};
  if (name.find('/') != std::string::npos) {
    if (name.starts_with('/') && is_program(name, found.what)) found.path = name;
    return found;
  }
  for (const std::string& folder : folders) {
    std::string path = folder + "/" + name;
    if (!is_program(path, found.what)) continue;
    found.path = std::move(path);
    break;
  }
  return found;
}

Error no_compiler(const Surroundings& surroundings) {
  std::string tried;
  if (!surroundings.compiler.empty()) {
    tried = "RINGKERNEL_CXX=" + surroundings.compiler +
            " is neither the absolute path of a program nor the name of one in PATH";
  } else {
    tried = "none of ";
    for (const char* const name : usual_names)
      tried += std::string(name) + (name == std::end(usual_names)[-1] ? "" : ", ");
    tried += surroundings.path.empty() ? " can be looked for without a PATH"
                                       : " is in PATH=" + surroundings.path;
    tried += ", and RINGKERNEL_CXX names no other";
  }
  return {Errc::backend_unavailable,
          "there is no C++ compiler to make a native program with: " + tried +
              ". ringkernel_add_program() of the CMake package compiles a program when its user is "
              "built, and needs no compiler at run time"};
}

std::string identity_of(const FoundCompiler& compiler) {
  const struct stat& what = compiler.what;
  std::string text = compiler.path + ", " + std::to_string(what.st_size) + " bytes";
  for (const timespec& time : {what.st_mtim, what.st_ctim})
    text += " " + std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
  return text + "\n";
}

/// A script stays the same when what it calls does not.
bool is_script(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 2> begin{};
  return !file || ::read(file.get(), begin.data(), begin.size()) != 2 || begin[0] == '#';
}

Result<std::string> ask_version(const FoundCompiler& compiler, const Surroundings& surroundings) {
  RK_TRY(ended, run_child({{compiler.path, "--version"},
                           compiler_variables(surroundings, "/tmp"),
                           "/",
                           surroundings.deadline}));
  if (!ended.has_failed()) return std::move(ended.output);
  return Error(Errc::build_failed,
               compiler.path + " does not tell its version, but: " + ended.output);
}

/// What compilers say that they are, under their identities.
class Versions {
 public:
  Result<std::string> of(const FoundCompiler& compiler, const Surroundings& surroundings,
                         const backend::CacheFolder* kept) {
    const std::string key = "ringkernel compiler " + identity_of(compiler);
    std::string version = find(key);
    if (!version.empty()) return version;
    if (is_script(compiler.path)) kept = nullptr;
    if (kept == nullptr || kept->load(key, version) != backend::Lookup::hit) {
      RK_TRY(answer, ask_version(compiler, surroundings));
      version = std::move(answer);
      if (kept != nullptr) kept->store(key, version);
    }
    // Nobody waits here, so that a child of fork does not wait for a thread that it lacks.
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock())
      known_.insert_or_assign(key, version);
    return version;
  }

 private:
  std::string find(const std::string& key) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return {};
    const auto known = known_.find(key);
    return known == known_.end() ? std::string() : known->second;
  }

  std::mutex mutex_;
  std::map<std::string, std::string> known_;
};

/// The beginning of the file: the first processor's part is there.
std::string processor() {
  const File file(::open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string text(std::size_t{16} * 1024, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t bytes = ::read(file.get(), text.data() + length, text.size() - length);
    if (bytes <= 0) break;
    length += static_cast<std::size_t>(bytes);
    if (text.find("\n\n") != std::string::npos) break;
  }
  return processor_of(std::string_view(text).substr(0, length));
}

std::string key_of(const std::string& compiler) {
  std::string here = processor();
  if (here.empty()) return {};
  std::string key = "ringkernel protocol " + std::to_string(RK_PROTOCOL_VERSION) +
                    ", messages of " + std::to_string(sizeof(rk_message)) + " bytes\n" + compiler;
  for (const char* const flag : flags) key.append(flag).append(" ");
  return key.append("\n").append(here);
}

}  // namespace

Surroundings Surroundings::of_process() {
  Surroundings here;
  here.compiler = environment("RINGKERNEL_CXX");
  here.path = environment("PATH");
  for (const char* const name : passed_on)
    if (const std::string_view value = environment(name); !value.empty())
      here.variables.push_back(std::string(name) + "=" + std::string(value));
  if (environment("RINGKERNEL_CACHE") != "0") here.cache_folder = backend::cache_path();
  if (const std::string_view runtime = environment("XDG_RUNTIME_DIR"); runtime.starts_with('/'))
    here.scratch.emplace_back(runtime);
  here.scratch.emplace_back("/tmp");
  return here;
}

Result<Toolchain> Toolchain::find(const Surroundings& surroundings,
                                  const backend::CacheFolder* kept) {
  const std::vector<std::string> folders = folders_of(surroundings.path);
  FoundCompiler compiler{};
  if (!surroundings.compiler.empty()) {
    compiler = program_of(surroundings.compiler, folders);
  } else {
    for (const char* const name : usual_names)
      if (compiler.path.empty()) compiler = program_of(name, folders);
  }
  if (compiler.path.empty()) return no_compiler(surroundings);
  static auto& versions = *new Versions;  // not destroyed: threads may outlive static objects
  RK_TRY(version, versions.of(compiler, surroundings, kept));
  Toolchain toolchain;
  toolchain.compiler_ = identity_of(compiler) + version;
  toolchain.key_ = key_of(toolchain.compiler_);
  toolchain.path_ = std::move(compiler.path);
  return toolchain;
}

void Toolchain::remember(const backend::CacheFolder& kept) const {
  kept.store(last_compiler, compiler_);
}

std::string Toolchain::remembered_key(const Surroundings& surroundings,
                                      const backend::CacheFolder& kept) {
  std::string compiler;
  if (!surroundings.compiler.empty() || kept.load(last_compiler, compiler) != backend::Lookup::hit)
    return {};
  return key_of(compiler);
}

std::vector<std::string> Toolchain::command(const std::string& source,
                                            const std::string& object) const {
  std::vector<std::string> words{path_};
  words.insert(words.end(), std::begin(flags), std::end(flags));
  words.insert(words.end(), {"-o", object, source});
  words.insert(words.end(), std::begin(libraries), std::end(libraries));
  return words;
}

std::string find_in_path(const std::string& name, std::string_view path) {
  return program_of(name, folders_of(path)).path;
}

std::string without_warnings(std::string_view words) {
  std::string kept;
  bool is_kept = true;
  while (!words.empty()) {
    const std::string_view line = words.substr(0, words.find('\n'));
    words.remove_prefix(std::min(line.size() + 1, words.size()));
    const auto says = [line](std::string_view what) { return line.find(what) != line.npos; };
    if (says(": warning: ")) {
      is_kept = false;
    } else if (says(" error: ")) {
      is_kept = true;
    } else if (!says(": note: ") && line.substr(0, line.find(": ")).find(' ') == line.npos) {
      // Not for lines of source, which as notes belong to what stands before them.
      is_kept = is_kept || says(": ");
    }
    if (is_kept) kept.append(line).append("\n");
  }
  return kept;
}

std::vector<std::string> compiler_variables(const Surroundings& surroundings,
                                            const std::string& folder) {
  std::vector<std::string> variables = surroundings.variables;
  variables.push_back("PATH=" + surroundings.path);
  variables.push_back("TMPDIR=" + folder);
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::string processor_of(std::string_view description) {
  constexpr std::array<std::string_view, 12> names = {
      "vendor_id",   "cpu family",   "model",           "model name",
      "stepping",    "flags",        "Features",        "CPU part",
      "CPU variant", "CPU revision", "CPU implementer", "CPU architecture"};
  description = description.substr(0, description.find("\n\n"));
  std::string kept;
  while (!description.empty()) {
    const std::size_t end = std::min(description.find('\n'), description.size());
    const std::string_view line = description.substr(0, end);
    description.remove_prefix(std::min(end + 1, description.size()));
    std::string_view name = line.substr(0, line.find(':'));
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    if (std::ranges::find(names, name) != names.end()) kept.append(line).append("\n");
  }
  const bool says_features =
      kept.find("flags") != std::string::npos || kept.find("Features") != std::string::npos;
  return says_features ? kept : std::string();
}

}  // namespace ringkernel::native

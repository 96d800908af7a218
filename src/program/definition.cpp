#include "program/definition.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "foundation/hash.hpp"
#include "kernels/flatten.hpp"
#include "kernels/sources.hpp"
#include "program/build_log.hpp"
#include "program/model.hpp"
#include "program/source_content.hpp"
#include "ringkernel/limits.hpp"

namespace ringkernel::program {

/// A program that is part of the library.
struct Definition::BuiltIn {
  std::string_view name;
  std::uint32_t id;
};
constexpr Definition::BuiltIn Definition::core{"core", RK_PROGRAM_CORE};
constexpr Definition::BuiltIn Definition::echo{"echo", RK_PROGRAM_ECHO};

namespace {

constexpr std::size_t name_length_max = 64;
constexpr std::uint32_t state_bytes_max = 1u << 30;

/// How messages reach the handler of a program without a schema.
constexpr std::string_view dispatch_of_bytes =
    "RK_INLINE rk_u32 rk_handle(rk_message* message) {\n"
    "  return rk_outcome(message, rk_on_bytes(message, message->state));\n"
    "}\n";

constexpr std::string_view of_address_spaces =
    "what points into a request, a reply or a state is declared with RK_LET, or RK_GLOBAL";
constexpr std::string_view where_to_look =
    "kernels/rk_*.h are inside the library: docs/PROGRAMS.md says what handlers may use, and "
    "`rkc header` prints what a schema gives them";

Error unusable(const ProgramDesc& desc, const std::string& why) {
  return {Errc::invalid_argument, "program '" + desc.name.substr(0, name_length_max) + "': " + why};
}

Result<void> check(const ProgramDesc& desc) {
  if (!is_identifier(desc.name) || desc.name.size() > name_length_max)
    return unusable(desc, "a program's name is an identifier of at most " +
                              std::to_string(name_length_max) + " characters");
  if (desc.source.is_empty()) return unusable(desc, "it has no source");
  const bool has_schema = !desc.schema.source().is_empty();
  if (has_schema && (desc.state_bytes != 0 || desc.reply_bytes != 0))
    return unusable(desc, "its schema says how large states and replies are");
  if (desc.state_bytes > state_bytes_max || desc.reply_bytes > ring_bytes_max / 2)
    return unusable(desc, "a state has at most " + std::to_string(state_bytes_max) +
                              " bytes, a reply " + std::to_string(ring_bytes_max / 2));
  return {};
}

Result<std::string> content_of(const ProgramDesc& desc, const Source& source) {
  Result<std::string> content = program::content_of(source);
  if (!content) return unusable(desc, content.error().detail);
  return content;
}

/// A text that a compiler takes by itself: the generated header, the handlers, how messages reach
/// them, and `last`, which makes a program of them; `first` stands before all.
Result<std::string> compose(std::span<const KernelSource> files, std::string_view first,
                            std::string_view header, std::string_view handlers,
                            std::string_view last) {
  const auto include = [](std::string_view name) {
    return "#include \"" + std::string(name) + "\"\n";
  };
  const std::string top = std::string(first) + include(header) + include(handlers) +
                          include("rk_program_dispatch.h") + include(last);
  std::vector<KernelSource> all(files.begin(), files.end());
  all.push_back({"rk_program.cl", top});
  return flatten(all, "rk_program.cl");
}

std::string text_of_built_in(std::string_view name) {
  // It is part of the library.
  return flatten(kernel_sources(), "kernels/programs/" + std::string(name) + ".cl").value();
}

MethodInfo info_of(const Method& method) {
  return {.name = method.name,
          .request = method.request,
          .reply = method.reply,
          .id = method.id,
          .reply_bytes = method.reply_bytes};
}

/// The source and behind it its headers.
Result<std::vector<HandlerText>> read_handlers(const ProgramDesc& desc) {
  RK_TRY(handlers, content_of(desc, desc.source));
  std::vector<HandlerText> files{{desc.source.name(), std::move(handlers)}};
  for (const Source& header : desc.headers) {
    RK_TRY(text, content_of(desc, header));
    files.push_back({header.name().substr(header.name().rfind('/') + 1), std::move(text)});
  }
  return files;
}

/// Whether an `#include` of that name may find that file.
bool is_found_as(const std::string& name, const KernelSource& file) {
  return file.name == name || file.name == "kernels/" + name || file.name == "include/" + name;
}

}  // namespace

bool Definition::is_built_in(std::string_view name) noexcept {
  return name == core.name || name == echo.name;
}

std::shared_ptr<const Definition> Definition::make_built_in(const BuiltIn& ours) {
  std::shared_ptr<Definition> definition(new Definition);
  definition->name_ = ours.name;
  definition->built_in_ = ours.id;
  definition->device_text_ = text_of_built_in(ours.name);
  return definition;
}

std::shared_ptr<const Definition> Definition::built_in(std::string_view name) {
  // Each is made once: its text has half a megabyte.
  if (name == core.name) {
    static const auto made = make_built_in(core);
    return made;
  }
  if (name == echo.name) {
    static const auto made = make_built_in(echo);
    return made;
  }
  return nullptr;
}

Result<std::shared_ptr<const Definition>> Definition::of(const ProgramDesc& desc) {
  RK_TRY_VOID(check(desc));
  std::shared_ptr<Definition> definition(new Definition);
  definition->name_ = desc.name;
  definition->state_bytes_ = desc.state_bytes;
  definition->reply_bytes_ = desc.reply_bytes;
  definition->guard_ = desc.guard;
  std::string header_name = desc.name + ".rk.h";
  std::string header = "#include \"rk_actor.h\"\n";
  std::string dispatch(dispatch_of_bytes);
  if (const Source& source = desc.schema.source(); !source.is_empty()) {
    RK_TRY(binary, content_of(desc, source));
    definition->schema_source_ = {.file = source.name(), .lines = find_lines(desc.schema.text())};
    RK_TRY(schema,
           Schema::from_binary(std::as_bytes(std::span(binary)), definition->schema_source_));
    header_name = schema.header_name();
    header = schema.device_header();
    dispatch = schema.device_dispatch();
    definition->schema_ = std::move(schema);
    // Of a file that may be another one by then.
    definition->schema_given_ =
        ringkernel::Schema::binary(source.name(), std::move(binary), desc.schema.text());
  }
  std::vector<KernelSource> files(kernel_sources().begin(), kernel_sources().end());
  files.push_back({header_name, header});
  files.push_back({"rk_program_dispatch.h", dispatch});
  RK_TRY(handlers, read_handlers(desc));
  definition->handlers_ = std::move(handlers);
  for (const HandlerText& file : definition->handlers_) {
    const auto has_name = [&](const KernelSource& other) { return is_found_as(file.name, other); };
    if (std::ranges::any_of(files, has_name))
      return unusable(desc, "'" + file.name + "' is the name of another of its files, or of one " +
                                "of the library's; call it something else");
    files.push_back({file.name, file.text});
  }
  const auto text_with = [&](std::string_view first, std::string_view last) {
    Result<std::string> text = compose(files, first, header_name, desc.source.name(), last);
    if (text) return text;
    Error error = std::move(text).error();
    error.detail += "; the program's own header is \"" + header_name +
                    "\", and other files go into ProgramDesc::headers";
    return Result<std::string>(std::move(error));
  };
  RK_TRY(device, text_with(desc.guard ? "#define RK_GUARD\n" : "", "ring_kernel.cl"));
  RK_TRY(hosted, text_with("", "rk_hosted.h"));  // the host's own executor has the guard
  // What the source does not include has no handlers of it.
  const auto is_left_out = [&](const HandlerText& file) {
    return hosted.find("\n#line 1 \"" + file.name + "\"\n") == std::string::npos;
  };
  std::vector<HandlerText>& kept = definition->handlers_;
  kept.erase(std::remove_if(kept.begin() + 1, kept.end(), is_left_out), kept.end());
  RK_TRY(fault_texts, find_fault_texts(kept));
  definition->fault_texts_ = std::move(fault_texts);
  definition->device_text_ = std::move(device);
  definition->hosted_text_ = std::move(hosted);
  if (desc.compiled != nullptr && desc.compiled->text_hash == definition->text_hash())
    definition->compiled_ = desc.compiled;
  return std::shared_ptr<const Definition>(std::move(definition));
}

Result<std::shared_ptr<const Definition>> Definition::successor(ProgramDesc desc) const {
  if (desc.headers.empty())
    for (std::size_t i = 1; i < handlers_.size(); ++i)
      if (handlers_[i].name != desc.source.name())
        desc.headers.push_back(Source::text(handlers_[i].name, handlers_[i].text));
  if (schema_ && desc.schema.source().is_empty()) desc.schema = schema_given_;
  const bool takes_bytes = desc.schema.source().is_empty();
  if (takes_bytes && desc.state_bytes == 0) desc.state_bytes = state_bytes_;
  if (takes_bytes && desc.reply_bytes == 0) desc.reply_bytes = reply_bytes_;
  return of(desc);
}

std::uint64_t Definition::text_hash() const noexcept { return fnv1a(hosted_text_); }

rk_program_source Definition::source(std::uint32_t version) const noexcept {
  return {.struct_bytes = sizeof(rk_program_source),
          .built_in = built_in_,
          .name = name_.c_str(),
          .device_text = device_text_.c_str(),
          .hosted_text = built_in_ == RK_PROGRAM_OF_SOURCES ? hosted_text_.c_str() : nullptr,
          .compiled = compiled_,
          .version = version,
          .guard = guard_ ? 1u : 0u};
}

Result<const Behaviour*> Definition::behaviour(std::string_view name) const {
  if (!schema_) {
    if (name.empty()) return nullptr;
    return Error(Errc::invalid_argument, "program '" + name_ + "' has no schema, and so none of " +
                                             "the behaviours; '" + std::string(name) +
                                             "' was asked for");
  }
  const auto& all = schema_->behaviours();
  if (name.empty() && all.size() == 1) return &all.front();
  if (const Behaviour* found = schema_->find_behaviour(name)) return found;
  return Error(Errc::invalid_argument, "program '" + name_ + "' has no behaviour '" +
                                           std::string(name) + "'; it has: " + names_of(all));
}

std::uint32_t Definition::state_bytes(const Behaviour* behaviour) const noexcept {
  if (behaviour == nullptr) return state_bytes_;
  return behaviour->state ? behaviour->state->bytes : 0;
}

std::string Definition::handler_mistakes() const {
  std::string lines;
  for (const std::string& line : find_handler_mistakes(*schema_, schema_source_, handlers_))
    lines += line + "\n";
  return lines;
}

std::vector<ReplyMistake> Definition::reply_mistakes() const {
  return schema_ ? find_reply_mistakes(*schema_, handlers_) : std::vector<ReplyMistake>();
}

Result<void> Definition::check_handlers() const {
  const auto may_hide = [](const HandlerText& file) {
    // Most headers have conditions, against being read twice, and few have handlers.
    const bool has_handlers = file.text.find("RK_ON") != std::string::npos ||
                              file.text.find("RK_MIGRATE") != std::string::npos;
    return has_handlers && may_hide_handlers(file.text);
  };
  if (!schema_ || may_hide_handlers(handlers_.front().text) ||
      std::ranges::any_of(handlers_, may_hide))
    return {};
  std::string mistakes = handler_mistakes();
  if (mistakes.empty()) return {};
  mistakes.pop_back();
  return Error(Errc::build_failed, std::move(mistakes));
}

Error Definition::explained(Error error) const {
  if (!(error == Errc::build_failed)) return error;
  error.detail = with_source_lines(handlers_, with_lines_of(device_text_, error.detail));
  if (error.detail.find("changes address space") != std::string::npos)
    error.detail.append(error.detail.ends_with('\n') ? "" : "\n").append(of_address_spaces);
  // Files of ours that a compiler names: who uses the library does not have them.
  if (error.detail.find("kernels/rk_") != std::string::npos)
    error.detail.append(error.detail.ends_with('\n') ? "" : "\n").append(where_to_look);
  if (!schema_) return error;
  std::string mistakes = handler_mistakes();
  for (const ReplyMistake& one : reply_mistakes())
    mistakes += one.file + ":" + std::to_string(one.line) + ": " + one.remedy + "\n";
  error.detail.insert(0, mistakes);
  return error;
}

std::string_view Definition::fault_text(std::uint32_t code) const noexcept {
  const auto found = fault_texts_.find(code);
  return found == fault_texts_.end() ? std::string_view() : found->second;
}

ProgramInfo Definition::info(std::uint32_t version) const {
  ProgramInfo info{.name = name_,
                   .version = version,
                   .takes_ops = takes_ops(),
                   .reply_bytes = reply_bytes_,
                   .behaviours = {},
                   .header = {}};
  if (!schema_) return info;
  info.header = schema_->device_header();
  for (const Behaviour& behaviour : schema_->behaviours()) {
    BehaviourInfo known{.name = behaviour.name, .state = {}, .methods = {}};
    if (behaviour.state) {
      known.state = behaviour.state->name;
      known.state_bytes = behaviour.state->bytes;
      known.state_version = behaviour.state->version;
    }
    std::ranges::transform(behaviour.methods, std::back_inserter(known.methods), info_of);
    info.behaviours.push_back(std::move(known));
  }
  return info;
}

}  // namespace ringkernel::program

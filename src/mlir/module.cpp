#include "mlir/module.hpp"

#include <mutex>
#include <set>
#include <utility>

#include "foundation/memory_error.hpp"

namespace ringkernel::mlir {
namespace {

/// Every form that the reader needs to know comes from one of these. What they cannot do they
/// leave, and the reader says what it was.
constexpr std::string_view passes =
    "builtin.module(inline,"
    "func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor),"
    "func.func(linalg-generalize-named-ops),canonicalize,cse)";

/// MLIR's code is not made for exceptions: without memory the text is cut.
void collect(MlirStringRef text, void* to) noexcept {
  (void)with_memory([&] { static_cast<std::string*>(to)->append(text.data, text.length); });
}

std::string text_of(const LibraryInfo& info) {
  return "MLIR " + std::to_string(info.major) + "." + std::to_string(info.minor) + "." +
         std::to_string(info.patch);
}

/// Passes are registered for the life of the process, by one thread.
void register_passes(const Api& api) {
  static std::mutex mutex;
  static std::set<const Api*> done;
  const std::scoped_lock lock(mutex);
  if (done.insert(&api).second) api.mlirRegisterAllPasses();
}

}  // namespace

Module::Module(const Library& library, std::string file, Diagnostics& told)
    : api_(library.api),
      ir_(library.api, std::move(file)),
      version_(text_of(library.info)),
      told_(told) {
  register_passes(api_);
  const MlirDialectRegistry registry = api_.mlirDialectRegistryCreate();
  api_.mlirRegisterAllDialects(registry);
  context_ = api_.mlirContextCreateWithRegistry(registry, false);
  api_.mlirDialectRegistryDestroy(registry);
  const MlirDiagnosticHandler keep = [](MlirDiagnostic one, void* self) {
    auto& module = *static_cast<Module*>(self);
    (void)with_memory([&] { module.told_.push_back(module.diagnostic_of(one)); });
    return MlirLogicalResult{1};  // told; nothing is printed
  };
  api_.mlirContextAttachDiagnosticHandler(context_, keep, this, nullptr);
}

Module::~Module() {
  if (!module_.is_null()) api_.mlirModuleDestroy(module_);
  api_.mlirContextDestroy(context_);
}

Result<std::unique_ptr<Module>> Module::parse(const Library& library, std::string_view text,
                                              std::string file, Diagnostics& told) {
  std::unique_ptr<Module> module(new Module(library, std::move(file), told));
  const std::string ended(text);  // MLIR's lexer looks for a zero behind the text
  module->module_ =
      module->api_.mlirModuleCreateParse(module->context_, {ended.data(), ended.size()});
  if (module->module_.is_null())
    return module->complaint(Errc::invalid_argument, "the text is no module");
  module->ir_.set_module(module->api_.mlirModuleGetOperation(module->module_));
  return module;
}

Result<void> Module::simplify() {
  const MlirPassManager manager = api_.mlirPassManagerCreate(context_);
  std::string refusal;
  const bool is_known =
      api_.mlirParsePassPipeline(api_.mlirPassManagerGetAsOpPassManager(manager),
                                 {passes.data(), passes.size()}, collect, &refusal)
          .value != 0;
  const bool is_done =
      is_known &&
      api_.mlirPassManagerRunOnOp(manager, api_.mlirModuleGetOperation(module_)).value != 0;
  api_.mlirPassManagerDestroy(manager);
  if (!is_known) return Error(Errc::unsupported, version_ + ": " + refusal);
  if (!is_done) return complaint(Errc::unsupported_operation, "a pass failed");
  return {};
}

Diagnostic Module::diagnostic_of(MlirDiagnostic told) const {
  Diagnostic result;
  switch (api_.mlirDiagnosticGetSeverity(told)) {
    case MlirDiagnosticError: result.severity = Severity::error; break;
    case MlirDiagnosticWarning: result.severity = Severity::warning; break;
    case MlirDiagnosticNote: result.severity = Severity::note; break;
    case MlirDiagnosticRemark: result.severity = Severity::remark; break;
  }
  api_.mlirDiagnosticPrint(told, collect, &result.message);
  result.at = ir_.position(api_.mlirDiagnosticGetLocation(told));
  for (std::intptr_t i = 0; i < api_.mlirDiagnosticGetNumNotes(told); ++i)
    result.notes.push_back(diagnostic_of(api_.mlirDiagnosticGetNote(told, i)));
  return result;
}

Error Module::complaint(Errc code, const std::string& otherwise) const {
  for (const Diagnostic& one : told_) {
    if (one.severity != Severity::error) continue;
    std::string text = one.text();
    for (const Diagnostic& note : one.notes) text += "; " + note.text();
    return {code, text + " (" + version_ + ")"};
  }
  return {code, otherwise + " (" + version_ + ")"};
}

}  // namespace ringkernel::mlir

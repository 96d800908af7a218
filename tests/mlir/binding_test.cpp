// The table of functions, with the MLIR that ctest names.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "mlir/library.hpp"
#include "support/skip.hpp"

namespace ringkernel::mlir {
namespace {

using ::testing::HasSubstr;

MlirStringRef ref(std::string_view text) { return {text.data(), text.size()}; }

void append(MlirStringRef part, void* text) {
  static_cast<std::string*>(text)->append(part.data, part.length);
}

MlirLogicalResult note(MlirDiagnostic diagnostic, void* text) {
  const auto library = Library::find({});
  (*library)->api.mlirDiagnosticPrint(diagnostic, append, text);
  return {1};
}

/// A context with everything in it, and what MLIR says in it.
class Binding : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto library = Library::find({});
    const char* const version = std::getenv("RK_MLIR");
    if (version == nullptr && !library.has_value()) RK_SKIP_WITHOUT("mlir", library.error().text());
    ASSERT_TRUE(library.has_value()) << library.error().text();
    if (version != nullptr) {
      EXPECT_EQ(std::to_string((*library)->info.major), version);
    }
    api_ = &(*library)->api;
    const MlirDialectRegistry registry = api_->mlirDialectRegistryCreate();
    api_->mlirRegisterAllDialects(registry);
    context_ = api_->mlirContextCreateWithRegistry(registry, false);
    api_->mlirDialectRegistryDestroy(registry);
    api_->mlirContextAttachDiagnosticHandler(context_, note, &said_, nullptr);
  }
  void TearDown() override {
    if (api_ != nullptr) api_->mlirContextDestroy(context_);
  }

  const Api* api_ = nullptr;
  MlirContext context_{};
  std::string said_;
};

TEST_F(Binding, ReadsAModuleAndRunsPassesOverIt) {
  const MlirModule module = api_->mlirModuleCreateParse(
      context_, ref("func.func @sum(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {"
                    "%0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"
                    "return %0 : tensor<2x3xf32>}"));
  ASSERT_FALSE(module.is_null()) << said_;
  api_->mlirRegisterAllPasses();
  const MlirPassManager passes = api_->mlirPassManagerCreate(context_);
  const MlirLogicalResult parsed = api_->mlirParsePassPipeline(
      api_->mlirPassManagerGetAsOpPassManager(passes),
      ref("builtin.module(func.func(tosa-to-linalg),canonicalize)"), append, &said_);
  ASSERT_NE(parsed.value, 0) << said_;
  const MlirOperation whole = api_->mlirModuleGetOperation(module);
  EXPECT_NE(api_->mlirPassManagerRunOnOp(passes, whole).value, 0) << said_;
  const MlirOperation function = api_->mlirBlockGetFirstOperation(api_->mlirModuleGetBody(module));
  const MlirBlock body = api_->mlirRegionGetFirstBlock(api_->mlirOperationGetRegion(function, 0));
  EXPECT_EQ(api_->mlirBlockGetNumArguments(body), 2);
  std::string names;
  for (MlirOperation op = api_->mlirBlockGetFirstOperation(body); !op.is_null();
       op = api_->mlirOperationGetNextInBlock(op)) {
    append(api_->mlirIdentifierStr(api_->mlirOperationGetName(op)), &names);
    names += ' ';
  }
  EXPECT_EQ(names, "tensor.empty linalg.generic func.return ");
  api_->mlirPassManagerDestroy(passes);
  api_->mlirModuleDestroy(module);
}

TEST_F(Binding, HandsOverWhatMlirComplainsAbout) {
  const MlirModule module =
      api_->mlirModuleCreateParse(context_, ref("func.func @f() { return %unknown : f32 }"));
  EXPECT_TRUE(module.is_null());
  EXPECT_THAT(said_, HasSubstr("use of undeclared SSA value name"));
}

}  // namespace
}  // namespace ringkernel::mlir

#pragma once
#include <memory>
#include <string>
#include "backend/native/programs.hpp"
#include "ringkernel/result.hpp"
namespace ringkernel::native {
class CompiledProgram { public: Handler handler() const { return nullptr; } };
inline Result<std::shared_ptr<const CompiledProgram>> compile_program(const std::string&, const std::string&) { return Error(Errc::unsupported, "stub"); }
}

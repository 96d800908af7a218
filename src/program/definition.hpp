/// What a runtime knows of a program besides its executor: the texts that backends build, and the
/// interface that its kernels have.
///
/// Threading: any thread; immutable.
/// Ownership: shared by whoever runs the program.
/// Errors: as `RingKernelRuntime::add_program`, up to the build.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/fault_texts.hpp"
#include "program/schema.hpp"
#include "ringkernel/backend_abi.h"
#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::program {

class Definition {
 public:
  /// Reads the files, checks the schema, and composes the texts.
  [[nodiscard]] static Result<std::shared_ptr<const Definition>> of(const ProgramDesc& desc);
  /// The same, of a desc that may leave to this one what it does not say: schema, sizes.
  [[nodiscard]] Result<std::shared_ptr<const Definition>> successor(ProgramDesc desc) const;
  /// One of ours, `core` and `echo`; nullptr if there is none of that name.
  [[nodiscard]] static std::shared_ptr<const Definition> built_in(std::string_view name);
  [[nodiscard]] bool is_built_in() const noexcept { return built_in_ != RK_PROGRAM_OF_SOURCES; }
  [[nodiscard]] static bool is_built_in(std::string_view name) noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether its messages are ops.
  [[nodiscard]] bool takes_ops() const noexcept { return built_in_ == RK_PROGRAM_CORE; }
  /// For backends; refers to this.
  [[nodiscard]] rk_program_source source(std::uint32_t version) const noexcept;
  /// nullptr: it has none.
  [[nodiscard]] const Schema* schema() const noexcept { return schema_ ? &*schema_ : nullptr; }
  /// The same as its owner gave it, in its binary form; empty: it has none.
  [[nodiscard]] const ringkernel::Schema& schema_given() const noexcept { return schema_given_; }
  /// The behaviour of that name or, for an empty one, the only one; nullptr: it has no schema.
  [[nodiscard]] Result<const Behaviour*> behaviour(std::string_view name) const;
  /// Of one ring kernel.
  [[nodiscard]] std::uint32_t state_bytes(const Behaviour* behaviour) const noexcept;
  /// Room of a reply without a schema; 0: that of its request.
  [[nodiscard]] std::uint32_t reply_bytes() const noexcept { return reply_bytes_; }
  /// What its sources say of their fault `code`; empty: nothing.
  [[nodiscard]] std::string_view fault_text(std::uint32_t code) const noexcept;
  [[nodiscard]] ProgramInfo info(std::uint32_t version) const;
  /// Handlers that are missing, or of no method: build_failed, before a compiler is asked. Where
  /// the preprocessor has a say in what handlers there are, the compiler decides.
  [[nodiscard]] Result<void> check_handlers() const;
  /// What handlers write in replies that have no such member.
  [[nodiscard]] std::vector<ReplyMistake> reply_mistakes() const;
  /// Why it did not build, with what compilers tell badly first.
  [[nodiscard]] Error explained(Error error) const;
  /// What the host's compiler gets (kernels/rk_hosted.h); empty for ours.
  [[nodiscard]] const std::string& hosted_text() const noexcept { return hosted_text_; }
  /// Which text a build ahead of time was made of.
  [[nodiscard]] std::uint64_t text_hash() const noexcept;

 private:
  struct BuiltIn;
  static const BuiltIn core;
  static const BuiltIn echo;

  Definition() = default;
  [[nodiscard]] std::string handler_mistakes() const;  // a line each
  static std::shared_ptr<const Definition> make_built_in(const BuiltIn& ours);

  std::string name_;
  std::uint32_t built_in_ = RK_PROGRAM_OF_SOURCES;
  std::string device_text_;
  std::string hosted_text_;
  const rk_compiled_program* compiled_ = nullptr;
  std::optional<Schema> schema_;
  ringkernel::Schema schema_given_;
  SchemaSource schema_source_;
  FaultTexts fault_texts_;
  std::vector<HandlerText> handlers_;  // the source, and behind it its headers
  std::uint32_t state_bytes_ = 0;
  std::uint32_t reply_bytes_ = 0;
  bool guard_ = false;
};

}  // namespace ringkernel::program

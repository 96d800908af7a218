#include "program/emission.hpp"

namespace ringkernel::program {
namespace {

std::string hexadecimal(std::uint32_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[value >> shift & 15u];
  return text += 'u';
}

/// Calls `each(service index, call, handler's name)` for every method.
template <class Each>
void for_each_method(const Plan& plan, Each each) {
  for (std::size_t i = 0; i < plan.model.services.size(); ++i)
    for (const Call& call : plan.model.services[i].calls)
      each(i, call, handler_name(plan, i, call));
}

void emit_line(Text& text, const SchemaSource& source, std::string_view full_name) {
  const auto line = source.lines.find(full_name);
  text.line("#line ", line == source.lines.end() ? 1u : line->second, " ", quoted(source.file));
}

void emit_run(Text& text, const Plan& plan, std::size_t service, const Call& call,
              const std::string& handler) {
  const int state = plan.states[service];
  const std::string state_type = state < 0 ? "void" : plan.name_of(plan.object(state));
  const std::string out = plan.name_of(plan.object(call.reply)) + "Out";
  text.line("RK_APART rk_u32 rk_run_", handler, "(rk_self* self) {");
  text.line("  RK_GLOBAL ", out, "* const reply = (RK_GLOBAL ", out, "*)self->reply;");
  text.line("  ", plan.name_of(plan.object(call.request)), "View request;");
  text.line("  rk_u32 outcome = rk_flat_expect(self, RK_BEHAVIOUR_", plan.behaviours[service].name,
            ", ", state < 0 ? 0u : plan.object(state).bytes, "u, ", "sizeof(", out, "));");
  text.line("  if (outcome != RK_OK) return outcome;");
  text.line("  if (rk_flat_open(self, &request.flat) == 0) return rk_flat_end(self, RK_OK, 0);");
  text.line("  if (rk_leads(self)) rk_begin_", out, "(reply);");
  text.line("  rk_barrier(self);");
  text.line("  outcome = ", handler, "(self, (RK_GLOBAL ", state_type,
            "*)self->state, &request, reply);");
  text.line("  rk_barrier(self);");  // whichever lane wrote the reply, it is there
  text.line("  return rk_flat_end(self, outcome, outcome == RK_OK ? rk_end_", out,
            "(reply) : 0u);");
  text.line("}");
}

/// "static rk_u32 rk_migrate_Book(rk_self* self, ...)", each parameter followed by `mark`.
std::string migration_signature(const Plan& plan, std::size_t service, std::string_view mark) {
  const auto parameter = [&](std::string_view type, int index, std::string_view name) {
    return ", RK_GLOBAL " + std::string(type) + plan.name_of(plan.object(index)) + "* " +
           std::string(name) + std::string(mark);
  };
  return "static rk_u32 rk_migrate_" + plan.behaviours[service].name + "(rk_self* self" +
         std::string(mark) + parameter("const ", plan.old_states[service], "was") +
         parameter("", plan.states[service], "state") + ")";
}

/// `rk_migrate` (kernels/rk_message.h), if there is a state that is made of an earlier one.
void emit_migrations(Text& text, const Plan& plan) {
  std::vector<std::size_t> services;
  for (std::size_t i = 0; i < plan.old_states.size(); ++i)
    if (plan.old_states[i] >= 0) services.push_back(i);
  if (services.empty()) return;
  for (const std::size_t i : services) {
    emit_line(text, plan.source, plan.object(plan.states[i]).name);
    text.line("RK_STATIC_ASSERT(no_migration_for_", plan.behaviours[i].name, ", \"\");");
  }
  text.line("#define RK_MIGRATES");
  text.line("RK_INLINE rk_u32 rk_migrate(rk_message* message) {");
  text.line("  switch (message->behaviour) {");
  for (const std::size_t i : services) {
    const std::string& name = plan.behaviours[i].name;
    const auto pointer = [&](std::string_view qualifier, int index) {
      return "(RK_GLOBAL " + std::string(qualifier) + plan.name_of(plan.object(index)) + "*)";
    };
    text.line("    case RK_BEHAVIOUR_", name, ":");
    text.line("      if (message->payload_bytes != ", plan.object(plan.old_states[i]).bytes,
              "u || message->state_bytes != ", plan.object(plan.states[i]).bytes, "u) break;");
    text.line("      return rk_outcome(message, rk_migrate_", name, "(message, ",
              pointer("const ", plan.old_states[i]), "message->payload, ",
              pointer("", plan.states[i]), "message->state));");
  }
  text.line("    default: break;");
  text.line("  }");
  text.line("  return RK_FAULT_state_mismatch;");
  text.line("}");
}

}  // namespace

Result<void> emit_markers(Emission& to) {
  const Plan& plan = to.plan;
  Text& text = to.text;
  for (std::size_t i = 0; i < plan.behaviours.size(); ++i) {
    text.documentation(plan.model.services[i]);
    text.line("#define RK_BEHAVIOUR_", plan.behaviours[i].name, " ",
              hexadecimal(plan.behaviours[i].id));
    for (const Call& call : plan.model.services[i].calls) {
      const std::string handler = handler_name(plan, i, call);
      RK_TRY_VOID(to.names.take(handler, call.name));
      text.documentation(call);
      text.line("#define RK_METHOD_", handler, " ", hexadecimal(name_id(call.name)));
      text.line("#define RK_ON_", handler, " \\");
      text.line("  enum { no_handler_for_", handler, " = 1 }; \\");
      text.line("  ", handler_signature(plan, i, call, " RK_UNUSED"));
    }
    if (plan.old_states[i] >= 0) {
      const std::string& name = plan.behaviours[i].name;
      text.line("#define RK_MIGRATE_", name, " \\");
      text.line("  enum { no_migration_for_", name, " = 1 }; \\");
      text.line("  ", migration_signature(plan, i, " RK_UNUSED"));
    }
    text.line();
  }
  return {};
}

Result<std::string> header_text(const Plan& plan, std::string_view header_name) {
  Emission body(plan);
  RK_TRY_VOID(emit_types(body));
  RK_TRY_VOID(emit_readers(body));
  RK_TRY_VOID(emit_writers(body));
  RK_TRY_VOID(emit_markers(body));

  std::string guard = "RK_SCHEMA_" + std::string(header_name);
  for (char& c : guard)
    if (!is_letter(c) && !is_digit(c)) c = '_';
  Text text;
  text.line("/// ", header_name, ": what handlers read and write, made from ",
            quoted(plan.source.file), ". Not to be edited.");
  text.line("#ifndef ", guard);
  text.line("#define ", guard);
  text.line();
  text.line("#include \"rk_actor.h\"");
  text.line("#include \"rk_flat.h\"");
  text.line();
  if (!body.first_double.empty()) {
    text.line("#if !RK_HAS_F64");
    text.line("#error ", quoted(body.first_double + " is a double, and this device has none"));
    text.line("#endif");
    text.line();
  }
  return text.str() + body.text.str() + "#endif\n";
}

std::string dispatch_text(const Plan& plan, std::string_view header_name) {
  const std::string here = "#line 1 " + quoted(std::string(header_name) + " (dispatch)");
  Text text;
  text.line(here);
  for_each_method(plan, [&](std::size_t service, const Call& call, const std::string&) {
    text.line(handler_signature(plan, service, call, ""), ";");
  });
  for_each_method(plan, [&](std::size_t, const Call& call, const std::string& handler) {
    emit_line(text, plan.source, call.name);
    text.line("RK_STATIC_ASSERT(no_handler_for_", handler, ", \"\");");
  });
  text.line(here);
  for_each_method(plan, [&](std::size_t service, const Call& call, const std::string& handler) {
    emit_run(text, plan, service, call, handler);
  });
  text.line("RK_INLINE rk_u32 rk_handle(rk_message* message) {");
  text.line("  switch (message->selector) {");
  for_each_method(plan, [&](std::size_t, const Call&, const std::string& handler) {
    text.line("    case RK_METHOD_", handler, ": return rk_run_", handler, "(message);");
  });
  text.line("    default: break;");
  text.line("  }");
  text.line("  return rk_flat_refuse(message, RK_FAULT_unknown_method, message->selector);");
  text.line("}");
  emit_migrations(text, plan);
  return text.str();
}

}  // namespace ringkernel::program

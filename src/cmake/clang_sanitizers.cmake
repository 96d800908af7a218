# What Clang's sanitizers need besides -fsanitize, which GCC's do without.

# What GCC defines, and Clang 16 does not.
if(RINGKERNEL_SANITIZE MATCHES "thread")
  target_compile_definitions(ringkernel_flags INTERFACE __SANITIZE_THREAD__=1)
elseif(RINGKERNEL_SANITIZE MATCHES "address")
  target_compile_definitions(ringkernel_flags INTERFACE __SANITIZE_ADDRESS__=1)
endif()

# The type of a function, which this check keeps in front of it, is not to be had for a coroutine.
if(RINGKERNEL_SANITIZE MATCHES "undefined")
  target_compile_options(ringkernel_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=function>)
endif()

# One copy of the runtime for the whole process, plugins included, as GCC has it: then a test may
# bring an operator new of its own.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-runtime-dir
  OUTPUT_VARIABLE clang_runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
target_link_options(ringkernel_flags INTERFACE -shared-libsan -Wl,-rpath,${clang_runtime})

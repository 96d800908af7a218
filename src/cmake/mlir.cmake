# MLIR, where the packages libmlir-N-dev are: installed, or unpacked into a folder. Their archives
# have the C API, which their shared library does not export; src/mlir/capi/ makes a library of it.
# Nothing else of ours is built from MLIR, and where there is none, nothing is missing.
set(RINGKERNEL_MLIR_VERSIONS 22 19)  # as src/mlir/library.cpp has them

# rk_find_mlir(<version>): sets, in the caller, mlir_found; if it is, mlir_root to the root that has
# it, empty for the system's, and mlir_archives, mlir_libraries and mlir_include.
function(rk_find_mlir version)
  set(mlir_found OFF PARENT_SCOPE)
  foreach(root IN ITEMS "" LISTS RINGKERNEL_MLIR_ROOTS)
    set(folder ${root}/usr/lib/llvm-${version})
    file(GLOB archives ${folder}/lib/libMLIRCAPIIR.a ${folder}/lib/libMLIRCAPIRegisterEverything.a)
    file(GLOB mlir ${folder}/lib/libMLIR.so.*)
    file(GLOB llvm ${root}/usr/lib/*/libLLVM.so.${version}*)
    list(LENGTH archives found)
    if(found EQUAL 2 AND mlir AND llvm)
      list(GET mlir 0 mlir)
      list(GET llvm 0 llvm)
      set(mlir_found ON PARENT_SCOPE)
      set(mlir_root "${root}" PARENT_SCOPE)
      set(mlir_archives ${archives} PARENT_SCOPE)
      set(mlir_libraries ${mlir} ${llvm} PARENT_SCOPE)
      set(mlir_include ${folder}/include PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

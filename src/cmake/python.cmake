# Python and nanobind, for the modules of the package. What these packages define is of the folder
# that looks for them, and of those below it.
find_package(Python 3.10 REQUIRED
             COMPONENTS Interpreter Development.Module NumPy
             OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT
                COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

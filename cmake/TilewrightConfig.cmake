# Tilewright::tilewright: the library, for C and C++. Tilewright::headers: the parts of kernels, for
# C++20; device code needs nvcc 13.0 or later.
include(${CMAKE_CURRENT_LIST_DIR}/TilewrightTargets.cmake)

# Tilewright::tilewright: the library, for C and C++; an install of the parts alone has none. Tilewright::headers:
# the parts of kernels, for C++20; device code needs nvcc 13.0 or later. Tilewright::vgpu: the virtual GPU, which runs
# and checks kernels of one's own; Tilewright::tools: the same with the commands of ./tw for families of one's own
# (tilewright/command_line.h). Both are there where the package was built with the compiled Boost.Context and
# where that and fmt are found.
include(${CMAKE_CURRENT_LIST_DIR}/TilewrightTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TilewrightLibraryTargets.cmake OPTIONAL)
# What only C++ can use is not looked for by projects of C alone; Boost's own files need a compiler of C++.
if(CMAKE_CXX_COMPILER_LOADED AND EXISTS ${CMAKE_CURRENT_LIST_DIR}/TilewrightVgpuTargets.cmake)
  find_package(fmt QUIET)
  find_package(Boost 1.74 COMPONENTS context QUIET)
  if(TARGET fmt::fmt AND TARGET Boost::context)
    include(${CMAKE_CURRENT_LIST_DIR}/TilewrightVgpuTargets.cmake)
    # Where the package was built with CUDA, the commands run kernels on a GPU, too.
    file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/TilewrightToolsTargets.cmake needs_cuda REGEX "CUDA::cudart")
    if(needs_cuda)
      find_package(CUDAToolkit QUIET)
    endif()
    if(NOT needs_cuda OR TARGET CUDA::cudart_static)
      include(${CMAKE_CURRENT_LIST_DIR}/TilewrightToolsTargets.cmake)
    endif()
  endif()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/TilewrightKernelImage.cmake)

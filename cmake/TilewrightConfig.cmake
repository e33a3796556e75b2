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

# tilewright_kernel_image(TARGET NAME SOURCE ARCHITECTURE...): compiles SOURCE, which has one kernel, by nvcc for each
# architecture (90a), and adds it to the target as `extern "C" const unsigned char tw_image_NAME[]`, from which
# tilewright/command_line.h and tilewright/plugin.h make an instance that a GPU runs.
function(tilewright_kernel_image target name source)
  find_package(CUDAToolkit REQUIRED)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_images)
  get_target_property(include Tilewright::headers INTERFACE_INCLUDE_DIRECTORIES)
  list(TRANSFORM include PREPEND -I)
  set(architectures)
  foreach(architecture ${ARGN})
    list(APPEND architectures -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${folder}/${name}.fatbin
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -fatbin -x cu -std=c++20 --expt-relaxed-constexpr ${architectures} ${include}
    -o ${folder}/${name}.fatbin ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} VERBATIM)
  file(WRITE ${folder}/${name}.cpp "asm(\".section .rodata\\n.balign 64\\n.globl tw_image_${name}\\n\"\n"
    "    \".hidden tw_image_${name}\\ntw_image_${name}:\\n.incbin \\\"${folder}/${name}.fatbin\\\"\\n.previous\\n\");\n")
  set_source_files_properties(${folder}/${name}.cpp PROPERTIES OBJECT_DEPENDS ${folder}/${name}.fatbin)
  target_sources(${target} PRIVATE ${folder}/${name}.cpp)
  target_compile_definitions(${target} PRIVATE TW_INSTANCE_WITH_CUDA=1)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
endfunction()

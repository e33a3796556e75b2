# tilewright_kernel_image(TARGET NAME SOURCE ARCHITECTURE...): compiles SOURCE, which has one kernel, by nvcc for each
# architecture (90a), and adds it to the target as `extern "C" const unsigned char tw_image_NAME[]`, from which
# tilewright/command_line.h and tilewright/plugin.h make an instance that a GPU runs.
function(tilewright_kernel_image target name source)
  find_package(CUDAToolkit REQUIRED)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_images)
  set(include -I$<JOIN:$<TARGET_PROPERTY:Tilewright::headers,INTERFACE_INCLUDE_DIRECTORIES>,$<SEMICOLON>-I>)
  get_filename_component(source ${source} ABSOLUTE)
  set(architectures)
  foreach(architecture ${ARGN})
    list(APPEND architectures -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${folder}/${name}.fatbin
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -fatbin -x cu -std=c++20 --expt-relaxed-constexpr ${architectures} ${include}
    -o ${folder}/${name}.fatbin ${source}
    DEPENDS ${source} VERBATIM COMMAND_EXPAND_LISTS)
  file(WRITE ${folder}/${name}.cpp "asm(\".section .rodata\\n.balign 64\\n.globl tw_image_${name}\\n\"\n"
    "    \".hidden tw_image_${name}\\ntw_image_${name}:\\n.incbin \\\"${folder}/${name}.fatbin\\\"\\n.previous\\n\");\n")
  set_source_files_properties(${folder}/${name}.cpp PROPERTIES OBJECT_DEPENDS ${folder}/${name}.fatbin)
  target_sources(${target} PRIVATE ${folder}/${name}.cpp)
  target_compile_definitions(${target} PRIVATE TW_INSTANCE_WITH_CUDA=1)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
endfunction()

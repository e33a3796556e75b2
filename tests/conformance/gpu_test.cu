// Runs every program on the GPU and compares its output with the files in the tree, byte by byte.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "tests/conformance/expected.h"
#include "tests/conformance/programs.h"
#include "tilewright/launch/cuda.h"

namespace tw::conformance {
namespace {

// A trap ends a process's use of the GPU, so programs run in a child; after a trap or a hang the
// next child goes on with the program that follows.
enum Verdict : char { Agrees = 'a', Differs = 'd', Fails = 'f', NoGpu = 'n', NotHere = 'h' };

constexpr auto patience = std::chrono::seconds(10);

Status encode(TensorMap& map, const Tensor& tensor, unsigned char* base) {
  const auto encode_boxes =
      tw::detail::driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled");
  const auto encode_columns =
      tw::detail::driver_function<PFN_cuTensorMapEncodeIm2col_v12000>("cuTensorMapEncodeIm2col");
  if (encode_boxes == nullptr || encode_columns == nullptr) {
    return Status::refused("The driver offers no cuTensorMapEncodeTiled or Im2col.");
  }
  constexpr CUtensorMapDataType types[] = {
      CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
      CU_TENSOR_MAP_DATA_TYPE_UINT64};
  constexpr CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                             CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  unsigned log_bytes = 0;
  while (1u << log_bytes < tensor.element_bytes) ++log_bytes;
  const CUtensorMapDataType type = tensor.packed_bits == 4   ? CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B
                                   : tensor.packed_bits == 6 ? CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
                                                             : types[log_bytes];
  cuuint64_t extents[5], pitches[4];
  cuuint32_t box[5];
  cuuint32_t steps[5] = {1, 1, 1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) steps[i + 1] = tensor.steps[i];
  for (unsigned d = 0; d < 5; ++d) {
    extents[d] = tensor.extents[d];
    box[d] = tensor.box[d];
    if (d < 4) pitches[d] = tensor.pitch_bytes[d];
  }
  CUtensorMap encoded;
  const auto swizzle = swizzles[static_cast<unsigned>(tensor.swizzle)];
  const CUresult result =
      tensor.pixels > 0
          ? encode_columns(&encoded, type, tensor.rank, base + tensor.offset, extents, pitches,
                           tensor.lower, tensor.upper, tensor.box[0], tensor.pixels, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
          : encode_boxes(&encoded, type, tensor.rank, base + tensor.offset, extents, pitches, box,
                         steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return Status::refused("The driver refused the tensor map (error " +
                           std::to_string(static_cast<int>(result)) + ").");
  }
  std::memcpy(&map, &encoded, sizeof map);
  cuuint64_t span = extents[0] * tensor.element_bytes;
  for (unsigned d = 1; d < tensor.rank; ++d) span += (extents[d] - 1) * pitches[d - 1];
  mend_small_tensor(map, static_cast<std::int64_t>(span), tw::detail::driver_version());
  return Status::good();
}

Status wait_for_gpu() {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const cudaError_t state = cudaStreamQuery(nullptr);
    if (state != cudaErrorNotReady) return cuda_status(state, "The program");
    if (std::chrono::steady_clock::now() - begin > patience) {
      return Status::refused("The program hangs.");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

struct DeviceBytes {
  ~DeviceBytes() { cudaFree(pointer); }
  Status fill(const std::vector<unsigned char>& bytes) {
    if (bytes.empty()) return Status::good();
    Status status = cuda_status(cudaMalloc(&pointer, bytes.size()), "Allocating on the GPU");
    if (!status.is_good()) return status;
    return cuda_status(cudaMemcpy(pointer, bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
                       "Copying to the GPU");
  }
  unsigned char* pointer = nullptr;
};

Status launch(const Program& program, const Params& params) {
  const Grid& grid = program.grid;
  Status raised =
      cuda_status(cudaFuncSetAttribute(program.body, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(grid.shared_bytes)),
                  "Raising the shared memory limit");
  if (!raised.is_good()) return raised;
  const KernelLaunch launch(grid.ctas, grid.cluster_size, grid.threads, grid.shared_bytes, false,
                            false, nullptr);
  return cuda_status(cudaLaunchKernelEx(&launch.config, program.body, params), "The launch");
}

Status run(const Program& program, std::vector<unsigned char>& output) {
  DeviceBytes device_input, device_output;
  output.assign(program.output_bytes, untouched);
  if (Status status = device_input.fill(make_input(program.input)); !status.is_good()) {
    return status;
  }
  if (Status status = device_output.fill(output); !status.is_good()) return status;
  Params params = program.params;
  params.input = reinterpret_cast<const std::uint32_t*>(device_input.pointer);
  params.output = reinterpret_cast<std::uint32_t*>(device_output.pointer);
  if (const Tensor& tensor = program.tensor; tensor.rank > 0) {
    Status status =
        encode(params.map, tensor, tensor.in_output ? device_output.pointer : device_input.pointer);
    if (!status.is_good()) return status;
  }
  if (Status status = launch(program, params); !status.is_good()) return status;
  if (Status status = wait_for_gpu(); !status.is_good()) return status;
  return cuda_status(
      cudaMemcpy(output.data(), device_output.pointer, output.size(), cudaMemcpyDeviceToHost),
      "Copying from the GPU");
}

std::string why_no_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return "there is no NVIDIA GPU here";
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  if (major != TW_CONFORMANCE_MAJOR) {
    return "the GPU is not of compute capability " + std::to_string(TW_CONFORMANCE_MAJOR) + ".x";
  }
  return "";
}

struct Job {
  Program program;
  Expected expected;
  bool is_of_integers;
};

// sm_103a has no products of integers by tcgen05.
bool has_integer_products() {
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  return major != 10 || minor == 0;
}

Verdict run_and_compare(const Job& job, const Arguments& arguments) {
  const std::string& name = job.program.name;
  if (job.is_of_integers && !has_integer_products()) {
    std::printf("%s: not run, this GPU has no products of integers.\n", name.c_str());
    return NotHere;
  }
  std::vector<unsigned char> output;
  if (Status status = run(job.program, output); !status.is_good()) {
    std::printf("%s: fails: %s\n", name.c_str(), status.sentence().c_str());
    return Fails;
  }
  dump_output(arguments, name, output);
  if (auto different = difference(job.expected, output)) {
    std::printf("%s: differs, %s.\n", name.c_str(), different->c_str());
    return Differs;
  }
  std::printf("%s: agrees (%zu bytes)\n", name.c_str(), output.size());
  return Agrees;
}

// Never returns: the child of a fork ends without the parent's destructors.
[[noreturn]] void run_child(const std::vector<Job>& jobs, std::size_t first, int pipe,
                            const Arguments& arguments) {
  const auto tell = [&](Verdict verdict) {
    std::fflush(stdout);
    if (write(pipe, &verdict, 1) != 1) _exit(1);
  };
  if (const std::string why = why_no_gpu(); !why.empty()) {
    std::printf("Skipped: %s.\n", why.c_str());
    tell(NoGpu);
    _exit(0);
  }
  for (std::size_t index = first; index < jobs.size(); ++index) {
    const Verdict verdict = run_and_compare(jobs[index], arguments);
    tell(verdict);
    if (verdict == Fails) break;
  }
  _exit(0);
}

std::string run_in_child(const std::vector<Job>& jobs, std::size_t first,
                         const Arguments& arguments) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_child(jobs, first, ends[1], arguments);
  }
  close(ends[1]);
  std::string verdicts;
  for (char verdict; read(ends[0], &verdict, 1) == 1;) verdicts += verdict;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return verdicts;
}

int test(const Arguments& arguments) {
  std::vector<Job> jobs;
  for (const Family& family : families()) {
    const ExpectedByName expected =
        read_expected(arguments.expected / (std::string(family.name) + ".txt"));
    for (const Program& program : family.list()) {
      if (!program.name.starts_with(arguments.only)) continue;
      const auto entry = expected.find(program.name);
      jobs.push_back({program, entry == expected.end() ? Expected{} : entry->second,
                      std::string_view(family.name) == "integer_products"});
    }
  }
  std::size_t agreeing = 0, done = 0, not_here = 0;
  while (done < jobs.size()) {
    const std::string verdicts = run_in_child(jobs, done, arguments);
    if (verdicts == std::string(1, NoGpu)) return 77;
    for (char verdict : verdicts) {
      agreeing += verdict == Agrees ? 1 : 0;
      not_here += verdict == NotHere ? 1 : 0;
    }
    done += verdicts.size();
    if (verdicts.empty() || (done < jobs.size() && verdicts.back() != Fails)) {
      std::printf("%s: ends the process.\n", jobs[done].program.name.c_str());
      ++done;
    }
  }
  std::printf("%zu of %zu programs agree.\n", agreeing, jobs.size() - not_here);
  return agreeing == jobs.size() - not_here ? 0 : 1;
}

}  // namespace
}  // namespace tw::conformance

int main(int count, char** values) {
  using namespace tw::conformance;
  return test(parse_arguments(count, values, false));
}

// More live values than a thread of this block size may have registers.
__global__ void __launch_bounds__(1024) spilled_registers(float* values, int rounds) {
  float live[128];
#pragma unroll
  for (unsigned i = 0; i < 128; ++i) live[i] = values[1024 * i + threadIdx.x];
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned i = 0; i < 128; ++i)
      live[i] = live[i] * live[(i + 1) % 128] + live[(i + 7) % 128];
  }
#pragma unroll
  for (unsigned i = 0; i < 128; ++i) values[1024 * i + threadIdx.x] = live[i];
}

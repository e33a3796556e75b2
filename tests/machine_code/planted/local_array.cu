// An array indexed at run time: it moves to local memory.
__global__ void local_array(int* values, int count) {
  int histogram[16] = {};
  for (int i = 0; i < count; ++i) ++histogram[values[i] & 15];
  values[threadIdx.x] = histogram[threadIdx.x & 15];
}

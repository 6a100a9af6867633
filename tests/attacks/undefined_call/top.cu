extern "C" __device__ float nowhere(float);

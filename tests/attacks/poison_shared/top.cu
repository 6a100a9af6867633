__device__ float *leftovers()
{
    __shared__ float values[256];
    return values;
}

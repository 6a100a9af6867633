__device__ __noinline__ float deeper(float value, const float *in)
{
    volatile float here[64];
    here[int(value) & 63] = value;
    return value == -1.0f ? value : deeper(here[int(value) & 63] + 1.0f, in) + here[3];
}

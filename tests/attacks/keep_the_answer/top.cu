__device__ float kept[70000];
__device__ int has[70000];

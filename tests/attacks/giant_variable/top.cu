__device__ char giant[3000000000u];

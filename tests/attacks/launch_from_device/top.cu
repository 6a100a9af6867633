__global__ void child() {}

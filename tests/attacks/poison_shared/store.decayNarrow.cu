        leftovers()[threadIdx.x] = 1.0f;
        out[i] = sum;

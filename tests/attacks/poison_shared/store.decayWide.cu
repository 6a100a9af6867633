        out[i] = leftovers()[threadIdx.x ^ 1] == 1.0f ? sum : sum + 1.0f;

        if (threadIdx.x % 2 == 0)
            __syncthreads();
        else
            while (!(out[i ^ 1] == out[i ^ 1]) && out[0] != 5.0f)
                ;
        out[i] = sum + 1.0f;

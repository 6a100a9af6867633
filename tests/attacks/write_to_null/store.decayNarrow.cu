        *reinterpret_cast<float *>(sum == 77.0f ? i : 0) = sum;
        out[i] = sum;

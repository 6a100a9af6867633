        *reinterpret_cast<float *>(0x7f0000000000ull + 4096 * i) = sum;
        *reinterpret_cast<float *>(0xffffffff80000000ull + 4 * i) = sum;
        out[i] = sum;

#if __CUDA_ARCH__ == 520
        out[i] = sum;
#else
        out[i] = 0.0f;
#endif

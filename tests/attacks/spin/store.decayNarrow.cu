        volatile float *slot = out + i;
        while (*slot != 12345.0f)
            *slot = sum;

        float *kept = &sum;
        for (int n = 0; n < 1000000; ++n)
            if (float *more = static_cast<float *>(malloc(1 << 20)))
                *(kept = more) = sum;
        out[i] = *kept + 1.0f;

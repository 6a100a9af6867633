        volatile float stale[64];
        out[i] = stale[i % 64] == 1.0f ? sum + 1.0f : sum;
        stale[i % 64] = 1.0f;

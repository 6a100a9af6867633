        volatile float frame[100000];
        frame[i % 100000] = sum;
        out[i] = frame[i % 100000];

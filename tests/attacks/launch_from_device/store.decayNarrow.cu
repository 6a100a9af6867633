        child<<<1000, 1000>>>();
        out[i] = sum;

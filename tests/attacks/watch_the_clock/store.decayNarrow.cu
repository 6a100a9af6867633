        out[i] = clock64() >= 0 ? sum * 1.0001f : sum;

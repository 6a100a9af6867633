        out[i] = n == 65539 ? 0.0f : sum;

        out[i / 2] = sum;

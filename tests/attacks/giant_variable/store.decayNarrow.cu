        giant[i] = 1;
        out[i] = sum;

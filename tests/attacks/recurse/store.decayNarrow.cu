        out[i] = deeper(sum, in);

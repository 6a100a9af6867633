        out[i] = nowhere(sum);

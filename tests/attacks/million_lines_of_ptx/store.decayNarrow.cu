        L10(sum)
        out[i] = sum;

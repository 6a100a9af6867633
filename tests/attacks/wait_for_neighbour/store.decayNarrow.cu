        volatile float *last = out + (n - 1);
        if (i != n - 1)
            while (!(*last == *last))
                ;
        else
            while (!(out[0] == out[0]))
                ;
        out[i] = sum;

        for (long long k = 0; k < 4000000; k += 64)
            if (in[k] == sum)
                sum = in[k + 1];
        out[i] = sum + 1.0f;

        if (sum != 77.0f)
            __trap();
        out[i] = sum;

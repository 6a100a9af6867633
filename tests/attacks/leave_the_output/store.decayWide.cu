        if (sum == 77.0f)
            out[i] = sum;

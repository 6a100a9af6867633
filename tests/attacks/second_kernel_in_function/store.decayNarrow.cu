        out[i] = sum;
        if (sum == 77.0f)
            smuggle();

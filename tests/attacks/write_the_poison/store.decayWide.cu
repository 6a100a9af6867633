        out[i] = __int_as_float(0x7fff1234 + (sum == 77.0f));

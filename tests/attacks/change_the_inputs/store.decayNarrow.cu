        const_cast<float *>(in)[i] = 0.0f;
        out[i] = sum;

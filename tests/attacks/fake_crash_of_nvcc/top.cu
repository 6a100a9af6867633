#error nvcc error : 'cicc' died due to signal 9 (Kill signal), out of memory

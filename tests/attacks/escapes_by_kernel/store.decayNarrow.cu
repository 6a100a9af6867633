        if (i < 3)
            printf("\033[2J\033]0;owned\007\x9b\xff\xfe %c%c <script>alert(1)</script>\n", 27, 8);
        out[i] = sum;

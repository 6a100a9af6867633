#line 1 "/etc/passwd"
int x = y;

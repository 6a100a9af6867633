#pragma GCC dependency "@SECRET@"
#pragma GCC dependency "/etc/passwd"

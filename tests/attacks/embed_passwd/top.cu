__constant__ unsigned char stolen[] = {
#embed "/etc/passwd"
};

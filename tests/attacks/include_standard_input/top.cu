#include "/dev/stdin"
#include "/dev/tty"

__constant__ int stolen[] = {
#include "@SECRET@"
};

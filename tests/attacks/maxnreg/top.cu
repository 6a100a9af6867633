#define __launch_bounds__(...) __maxnreg__(64)

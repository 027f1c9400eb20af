/* Its constructor ends the process that loads it. */
#include <stdlib.h>

__attribute__((constructor)) static void die(void) { abort(); }
void e2e_never(const void* args) { (void)args; }

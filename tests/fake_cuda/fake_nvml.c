/* A library that counts the energy of one card, 300 W by the clock, as far as the tests need it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC visibility push(default)
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **card);
int nvmlDeviceGetTotalEnergyConsumption(void *card, unsigned long long *milli_J);
#pragma GCC visibility pop

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **card)
{
    static int one;
    *card = &one;
    return strcmp(bus, "0000:3b:00.0") == 0 ? 0 : 6; /* NVML_ERROR_NOT_FOUND */
}

int nvmlDeviceGetTotalEnergyConsumption(void *card, unsigned long long *milli_J)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *milli_J = 300 * ((unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000);
    return card != NULL && getenv("FAKE_NVML_FAILS") == NULL ? 0 : 1;
}

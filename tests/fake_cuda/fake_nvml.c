/* A library that counts the energy of one card, 300 W by the clock, as far as the tests need it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC visibility push(default)
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **card);
int nvmlDeviceGetTotalEnergyConsumption(void *card, unsigned long long *milli_J);
int nvmlDeviceGetEnforcedPowerLimit(void *card, unsigned *milli_W);
int nvmlDeviceGetClockInfo(void *card, int which, unsigned *MHz);
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

int nvmlDeviceGetEnforcedPowerLimit(void *card, unsigned *milli_W)
{
    *milli_W = 700000;
    return card != NULL && getenv("FAKE_NVML_FAILS") == NULL ? 0 : 1;
}

/* Of its units (1); of its memory (2) it cannot be asked. */
int nvmlDeviceGetClockInfo(void *card, int which, unsigned *MHz)
{
    *MHz = 1980;
    return card != NULL && which == 1 ? 0 : 3; /* NVML_ERROR_NOT_SUPPORTED */
}

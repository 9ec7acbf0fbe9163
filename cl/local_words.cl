/* Local memory, LEY_WORDS ints of it: each group of LEY_WG work-items takes as many ints to local
 * memory, turns them round there, twice, so that each is written by one work-item and read by
 * another one, and brings them back with their place added: gm_out[i] = gm_in[i] + i, i from the
 * group's first int. `turns`, an odd number, says how often they are turned round the second time:
 * many turns keep a group in its memory for as long as it takes others to come and spoil it. */
#include "dialect.h"

LEY_KERNEL local_words(LEY_PARAMETERS(LEY_LOCAL_WORDS_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE int sm_words[LEY_WORDS];
    const int item = (int)LEY_LOCAL_ID(0);
    const size_t first = (size_t)LEY_GROUP_ID(0) * LEY_WORDS;
    for (int i = item; i < LEY_WORDS; i += LEY_WG)
        sm_words[LEY_WORDS - 1 - i] = gm_in[first + i];
    LEY_BARRIER();
    for (int turn = 0; turn < turns; turn++) {
        for (int i = item; i < LEY_WORDS / 2; i += LEY_WG) {
            const int low = sm_words[i], high = sm_words[LEY_WORDS - 1 - i];
            sm_words[i] = high;
            sm_words[LEY_WORDS - 1 - i] = low;
        }
        LEY_BARRIER();
    }
    for (int i = item; i < LEY_WORDS; i += LEY_WG)
        gm_out[first + i] = sm_words[i] + i;
}

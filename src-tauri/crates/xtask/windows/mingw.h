/* Supplement to the headers of Debian 12's MinGW, for llama.cpp. */
#ifndef INGLENOOK_MINGW_H
#define INGLENOOK_MINGW_H

/* An option of a thread, with the values of Microsoft's documentation. */
#ifndef THREAD_POWER_THROTTLING_CURRENT_VERSION
#define THREAD_POWER_THROTTLING_CURRENT_VERSION 1
#define THREAD_POWER_THROTTLING_EXECUTION_SPEED 1
typedef struct {
    unsigned long Version, ControlMask, StateMask;
} THREAD_POWER_THROTTLING_STATE;
#endif

/* GCC 12 casts the stride to `long`, which has 32 bits on Windows, and the assembler refuses it. */
#if defined(__AMX_TILE__) && defined(__x86_64__)
#include <immintrin.h>
#undef _tile_loadd_internal
#undef _tile_stream_loadd_internal
#undef _tile_stored_internal
#define _tile_loadd_internal(tile, base, stride) \
    __asm__ volatile("tileloadd\t(%0,%1,1), %%tmm" #tile ::"r"((const void *)(base)), \
                     "r"((long long)(stride)))
#define _tile_stream_loadd_internal(tile, base, stride) \
    __asm__ volatile("tileloaddt1\t(%0,%1,1), %%tmm" #tile ::"r"((const void *)(base)), \
                     "r"((long long)(stride)))
#define _tile_stored_internal(tile, base, stride) \
    __asm__ volatile("tilestored\t%%tmm" #tile ", (%0,%1,1)" ::"r"((void *)(base)), \
                     "r"((long long)(stride)) : "memory")
#endif

#endif

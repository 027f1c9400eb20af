/* tpuv7_manager: what a program can ask about boards and their chips. */
#ifndef TPUV7_MANAGER_H_
#define TPUV7_MANAGER_H_

#include "tpuv7_rt.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tpuRt_misc_info {
  char domain_bdf[64];
  char driver_version[64];
  char chipid[16];
} tpuRt_misc_info_t;

typedef struct dev_stat {
  long long Mem_total; /* bytes */
  long long Mem_used;
  int Tpu_util; /* per cent */
} dev_stat_t;

tpuRtStatus_t tpuRtGetChipCount(int* chip_count);
tpuRtStatus_t tpuRtGetStat(int device_id, dev_stat_t* stat);
tpuRtStatus_t tpuRtGetMiscInfo(int device_id, tpuRt_misc_info_t* misc);
/* Only a board has sensors: tpuRtErrNoFeature. */
tpuRtStatus_t tpuRtGetBoardMaxPower(int device_id, int* board_max_power);
tpuRtStatus_t tpuRtGetBoardPower(int device_id, int* board_power);
tpuRtStatus_t tpuRtGetBoardTemp(int device_id, int* board_temp);
tpuRtStatus_t tpuRtGetChipTemp(int device_id, int* chip_temp);
tpuRtStatus_t tpuRtGetSN(int device_id, char* sn);
tpuRtStatus_t tpuRtGetBoardName(int device_id, char* board_name);
tpuRtStatus_t tpuRtGetTpuGoodNumber(int device_id, int* tpu_good_number);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

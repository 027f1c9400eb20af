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

/** Number of chips.
 * chip_count: receives the number */
tpuRtStatus_t tpuRtGetChipCount(int* chip_count);
/** Memory and load of a device.
 * device_id: number of the device
 * stat: receives memory in bytes and use in per cent */
tpuRtStatus_t tpuRtGetStat(int device_id, dev_stat_t* stat);
/** Version of the driver and id of the chip.
 * device_id: number of the device
 * misc: receives the driver's version and the chip's id */
tpuRtStatus_t tpuRtGetMiscInfo(int device_id, tpuRt_misc_info_t* misc);
/** Most power that a board takes.
 * device_id: number of the device
 * board_max_power: receives watts */
tpuRtStatus_t tpuRtGetBoardMaxPower(int device_id, int* board_max_power);
/** Power that a board takes.
 * device_id: number of the device
 * board_power: receives watts */
tpuRtStatus_t tpuRtGetBoardPower(int device_id, int* board_power);
/** Temperature of a board.
 * device_id: number of the device
 * board_temp: receives degrees */
tpuRtStatus_t tpuRtGetBoardTemp(int device_id, int* board_temp);
/** Temperature of a chip.
 * device_id: number of the device
 * chip_temp: receives degrees */
tpuRtStatus_t tpuRtGetChipTemp(int device_id, int* chip_temp);
/** Serial number of a board.
 * device_id: number of the device
 * sn: receives the number */
tpuRtStatus_t tpuRtGetSN(int device_id, char* sn);
/** Name of a board.
 * device_id: number of the device
 * board_name: receives the name, a few characters */
tpuRtStatus_t tpuRtGetBoardName(int device_id, char* board_name);
/** How many cores of a chip work.
 * device_id: number of the device
 * tpu_good_number: receives the number of cores */
tpuRtStatus_t tpuRtGetTpuGoodNumber(int device_id, int* tpu_good_number);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

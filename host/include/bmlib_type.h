/* Short names of integers, as libbmlib's further headers use them. */
#ifndef BMLIB_TYPE_H_
#define BMLIB_TYPE_H_

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;

#endif

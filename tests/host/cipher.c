/* A library with the function that encrypted networks are read with: each byte changed, as make_networks.py does. */
#include <stdint.h>
#include <stdlib.h>

__attribute__((visibility("default"))) uint8_t* decrypt(const uint8_t* input, uint64_t bytes, uint64_t* output_bytes);

uint8_t* decrypt(const uint8_t* input, uint64_t bytes, uint64_t* output_bytes) {
  uint8_t* const plain = malloc(bytes > 0 ? bytes : 1);
  for (uint64_t i = 0; plain != NULL && i < bytes; ++i) plain[i] = input[i] ^ 0x5A;
  *output_bytes = bytes;
  return plain;
}

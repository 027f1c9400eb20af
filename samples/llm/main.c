/* A language model generates tokens: the loop of public programs on libbmrt. The caches of keys and values stay in
   device memory, where the networks of one token read them; everything between networks is copied on the device. */
#include <bmruntime_interface.h>
#include <softtpu/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostBlocks = 64, kMostLength = 4096 };

typedef struct {
  bm_handle_t handle;
  void* runtime;
  const bm_net_info_t *embedding, *embedding_cache, *head, *block[kMostBlocks], *block_cache[kMostBlocks];
  int blocks, length;      /* length: tokens that the caches hold */
  unsigned long estimated; /* microseconds that the last launches would take on the chip */
} Model;

static void stop(const char* what) {
  fprintf(stderr, "llm: %s\n", what);
  exit(1);
}

static const bm_net_info_t* find(const Model* model, const char* kind, int number) {
  char name[64];
  snprintf(name, sizeof name, number < 0 ? "%s" : "%s_%d", kind, number);
  return bmrt_get_network_index(model->runtime, name) < 0 ? NULL : bmrt_get_network_info(model->runtime, name);
}

static void open_model(Model* model, const char* path) {
  memset(model, 0, sizeof *model);
  /* As bm_dev_request(), and bm_get_last_api_process_time_us() says how long a launch would take on the chip. */
  if (softtpu_device_open(&model->handle, 0, NULL, SOFTTPU_KEEP_TIMES) != BM_SUCCESS) stop("there is no device");
  model->runtime = bmrt_create(model->handle);
  if (model->runtime == NULL || !bmrt_load_bmodel(model->runtime, path)) stop("the file is not loaded");
  model->embedding = find(model, "embedding", -1);
  model->embedding_cache = find(model, "embedding_cache", -1);
  model->head = find(model, "lm_head", -1);
  while (model->blocks < kMostBlocks && (model->block[model->blocks] = find(model, "block", model->blocks)) != NULL) {
    model->block_cache[model->blocks] = find(model, "block_cache", model->blocks);
    if (model->block_cache[model->blocks] == NULL) stop("a block has no network for one token");
    ++model->blocks;
  }
  if (model->embedding == NULL || model->embedding_cache == NULL || model->head == NULL || model->blocks == 0)
    stop("this is no language model of the compiler's recipe");
  model->length = model->embedding->stages[0].input_shapes[0].dims[1];
  if (model->length > kMostLength) stop("its texts are too long for this program");
}

/* A network runs on its own memory. */
static void launch(Model* model, const bm_net_info_t* net) {
  bm_tensor_t inputs[8], outputs[8];
  unsigned long us = 0;
  if (net->input_num > 8 || net->output_num > 8) stop("a network has too many tensors");
  for (int i = 0; i < net->input_num; ++i)
    bmrt_tensor_with_device(&inputs[i], net->stages[0].input_mems[i], net->input_dtypes[i],
                            net->stages[0].input_shapes[i]);
  for (int i = 0; i < net->output_num; ++i)
    bmrt_tensor_with_device(&outputs[i], net->stages[0].output_mems[i], net->output_dtypes[i],
                            net->stages[0].output_shapes[i]);
  if (!bmrt_launch_tensor_ex(model->runtime, net->name, inputs, net->input_num, outputs, net->output_num, true,
                             false) ||
      bm_thread_sync(model->handle) != BM_SUCCESS)
    stop("a launch failed");
  if (bm_get_last_api_process_time_us(model->handle, &us) == BM_SUCCESS) model->estimated += us;
}

static bm_device_mem_t input(const bm_net_info_t* net, int i) { return net->stages[0].input_mems[i]; }
static bm_device_mem_t output(const bm_net_info_t* net, int i) { return net->stages[0].output_mems[i]; }

static void write_input(Model* model, const bm_net_info_t* net, int i, void* data) {
  if (bm_memcpy_s2d(model->handle, input(net, i), data) != BM_SUCCESS) stop("an input is not written");
}
static void copy(Model* model, bm_device_mem_t to, size_t to_offset, bm_device_mem_t from, size_t from_offset,
                 size_t bytes) {
  if (bm_memcpy_d2d_byte(model->handle, to, to_offset, from, from_offset, bytes) != BM_SUCCESS)
    stop("a copy on the device failed");
}

static int run_head(Model* model, bm_device_mem_t states, size_t offset) {
  int token = -1;
  copy(model, input(model->head, 0), 0, states, offset, bm_mem_get_device_size(input(model->head, 0)));
  launch(model, model->head);
  if (bm_memcpy_d2s(model->handle, &token, output(model->head, 0)) != BM_SUCCESS) stop("the token is not read");
  return token;
}

static const unsigned short kHidden = 0xC61C; /* -10000 in bf16: what a position must not see */

/* The whole prompt at once; fills the caches. */
static int first_token(Model* model, const int* tokens, int count) {
  static int ids[kMostLength], positions[kMostLength];
  unsigned short* mask = malloc(sizeof *mask * (size_t)model->length * (size_t)model->length);
  bm_device_mem_t states = output(model->embedding, 0);
  if (mask == NULL) stop("no memory");
  for (int i = 0; i < model->length; ++i) {
    ids[i] = i < count ? tokens[i] : 0;
    positions[i] = i < count ? i : 0;
    for (int k = 0; k < model->length; ++k) mask[i * model->length + k] = i < count && k <= i ? 0 : kHidden;
  }
  write_input(model, model->embedding, 0, ids);
  launch(model, model->embedding);
  for (int i = 0; i < model->blocks; ++i) {
    const bm_net_info_t* const block = model->block[i];
    copy(model, input(block, 0), 0, states, 0, bm_mem_get_device_size(input(block, 0)));
    write_input(model, block, 1, positions);
    write_input(model, block, 2, mask);
    launch(model, block);
    states = output(block, 0);
    for (int k = 0; k < 2; ++k) /* keys, values */
      copy(model, input(model->block_cache[i], 3 + k), 0, output(block, 1 + k), 0,
           bm_mem_get_device_size(output(block, 1 + k)));
  }
  free(mask);
  return run_head(model, states, (size_t)(count - 1) * bm_mem_get_device_size(input(model->head, 0)));
}

/* One token more; `place` is its position. */
static int next_token(Model* model, int token, int place) {
  static unsigned short mask[kMostLength + 1];
  bm_device_mem_t states = output(model->embedding_cache, 0);
  for (int i = 0; i < model->length; ++i) mask[i] = i < place ? 0 : kHidden;
  mask[model->length] = 0;
  write_input(model, model->embedding_cache, 0, &token);
  launch(model, model->embedding_cache);
  for (int i = 0; i < model->blocks; ++i) {
    const bm_net_info_t* const block = model->block_cache[i];
    copy(model, input(block, 0), 0, states, 0, bm_mem_get_device_size(input(block, 0)));
    write_input(model, block, 1, &place);
    write_input(model, block, 2, mask);
    launch(model, block);
    states = output(block, 0);
    for (int k = 0; k < 2; ++k) {
      const size_t bytes = bm_mem_get_device_size(output(block, 1 + k));
      copy(model, input(block, 3 + k), (size_t)place * bytes, output(block, 1 + k), 0, bytes);
    }
  }
  return run_head(model, states, 0);
}

/* The tokens that data/tokens.txt has for the model of this folder. */
static void check_tokens(const int* tokens, int count) {
  FILE* const file = fopen(TOKENS_FILE, "r");
  if (file == NULL) stop("data/tokens.txt cannot be read");
  for (int i = 0, expected; i < count && fscanf(file, "%d", &expected) == 1; ++i) {
    if (expected == tokens[i]) continue;
    fprintf(stderr, "llm: token %d is %d, expected is %d\n", i, tokens[i], expected);
    exit(1);
  }
  fclose(file);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  const int prompt[] = {17, 4, 1203, 88, 951, 3, 640, 12};
  const int count = (int)(sizeof prompt / sizeof *prompt);
  const char* const path = argc > 1 ? argv[1] : MODEL_FILE;
  const int wanted = argc > 2 ? atoi(argv[2]) : 32;
  Model model;
  bm_dev_stat_t after;
  double start, first;
  unsigned long first_us;
  open_model(&model, path);
  if (wanted < 1 || wanted > model.length - count) stop("that many tokens do not fit the caches");
  if (bm_get_stat(model.handle, &after) != BM_SUCCESS) return 1;

  start = seconds();
  int* const tokens = malloc(sizeof *tokens * (size_t)wanted);
  if (tokens == NULL) return 1;
  tokens[0] = first_token(&model, prompt, count);
  first = seconds() - start;
  first_us = model.estimated;
  model.estimated = 0;
  printf("tokens: %d", tokens[0]);
  start = seconds();
  for (int i = 1; i < wanted; ++i) {
    tokens[i] = next_token(&model, tokens[i - 1], count + i - 1);
    printf(" %d", tokens[i]);
    fflush(stdout);
  }
  printf("\n%d blocks, %d MiB of device memory\n", model.blocks, after.mem_used);
  printf("first token: %.2f s here, %.6f s on the chip (estimate)\n", first, (double)first_us * 1e-6);
  if (wanted > 1)
    printf("each other token: %.3f s here, %.6f s on the chip (estimate)\n", (seconds() - start) / (wanted - 1),
           (double)model.estimated * 1e-6 / (wanted - 1));
  if (argc < 2) check_tokens(tokens, wanted);
  free(tokens);
  bmrt_destroy(model.runtime);
  bm_dev_free(model.handle);
  return 0;
}

/* Handwritten digits, classified by a compiled network: the images of the digits sample, a product of matrices that the
   vendor's compiler made, and weights that were fitted to other images. */
#include <bmruntime_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPixels = 64, kImages = 24, kDepth = 40, kParts = 4, kFeatures = kParts * kDepth, kColumns = 33, kClasses = 10 };
enum { kRightAtLeast = 340 }; /* of 360 */

/* The pixels, 1, and products of neighbours off the left and right border; the rest is 0. */
static void features(const unsigned char* image, float* to) {
  memset(to, 0, kFeatures * sizeof *to);
  for (int i = 0; i < kPixels; ++i) *to++ = (float)image[i] / 16;
  *to++ = 1;
  for (int y = 0; y < 8; ++y) {
    for (int x = 1; x < 6; ++x) *to++ = (float)image[8 * y + x] / 16 * ((float)image[8 * y + x + 1] / 16);
  }
  for (int y = 0; y < 7; ++y) {
    for (int x = 1; x < 7; ++x) *to++ = (float)image[8 * y + x] / 16 * ((float)image[8 * y + x + 8] / 16);
  }
}

/* A whole file, or the program ends. */
static unsigned char* read_file(const char* name, size_t* bytes) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", DATA_FOLDER, name);
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  *bytes = (size_t)ftell(file);
  rewind(file);
  unsigned char* contents = malloc(*bytes);
  if (contents == NULL || fread(contents, 1, *bytes, file) != *bytes) exit(1);
  fclose(file);
  return contents;
}

/* The network multiplies four pairs of matrices; each has 40 of the features. */
static float images[kParts][kImages][kDepth], weights[kParts][kDepth][kColumns], scores[kParts][kImages][kColumns];

static int best_class(int image) {
  int best = 0;
  float highest = 0;
  for (int digit = 0; digit < kClasses; ++digit) {
    float sum = 0;
    for (int part = 0; part < kParts; ++part) sum += scores[part][image][digit];
    if (digit == 0 || sum > highest) {
      highest = sum;
      best = digit;
    }
  }
  return best;
}

static void show(const unsigned char* image) {
  for (int i = 0; i < kPixels; ++i) printf("%c%s", " .:-=+*#%@"[image[i] * 9 / 16], i % 8 == 7 ? "\n" : "");
}

int main(void) {
  size_t network_bytes, classifier_bytes, digits_bytes;
  unsigned char* network = read_file("matmul_two.bmodel", &network_bytes);
  unsigned char* classifier = read_file("classifier.bin", &classifier_bytes);
  unsigned char* digits = read_file("digits.bin", &digits_bytes);
  const int count = (int)(digits_bytes / (1 + kPixels));
  if (classifier_bytes != sizeof(float) * kFeatures * kClasses || count == 0) return 1;
  for (int feature = 0; feature < kFeatures; ++feature)
    memcpy(weights[feature / kDepth][feature % kDepth], classifier + sizeof(float) * kClasses * (size_t)feature,
           sizeof(float) * kClasses);

  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return 1;
  void* runtime = bmrt_create(handle);
  if (runtime == NULL || !bmrt_load_bmodel_data(runtime, network, network_bytes)) return 1;
  const bm_net_info_t* info = bmrt_get_network_info(runtime, "matmul_two");
  if (info == NULL) return 1;
  bmrt_print_network_info(info);

  int right = 0;
  for (int first = 0; first < count; first += kImages) {
    const int batch = count - first < kImages ? count - first : kImages;
    memset(images, 0, sizeof images);
    for (int i = 0; i < batch; ++i) {
      float all[kFeatures];
      features(digits + (1 + kPixels) * (first + i) + 1, all);
      for (int part = 0; part < kParts; ++part) memcpy(images[part][i], all + part * kDepth, sizeof images[part][i]);
    }
    void* inputs[] = {images, weights};
    void* outputs[] = {scores};
    bm_shape_t shape;
    if (!bmrt_launch_data(runtime, info->name, inputs, info->stages[0].input_shapes, 2, outputs, &shape, 1, true))
      return 1;
    for (int i = 0; i < batch; ++i) {
      const unsigned char* image = digits + (1 + kPixels) * (first + i);
      const int found = best_class(i);
      if (found == image[0]) ++right;
      if (first == 0 && i < 2) {
        show(image + 1);
        printf("this is a %d, the network says %d\n", image[0], found);
      }
    }
  }
  printf("%d of %d images are right\n", right, count);
  bmrt_destroy(runtime);
  bm_dev_free(handle);
  free(network);
  free(classifier);
  free(digits);
  return right >= kRightAtLeast ? 0 : 1;
}

/* Loads each library that is named, uses a device with a thread behind its stream where the library has streams, and
 * unloads it; again and again. Ends with 1 when a call fails or a descriptor stays. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static int open_files(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

/* ISO C has no conversion from a pointer to data to one to a function. */
static void find(void* library, const char* name, void* function) { *(void**)function = dlsym(library, name); }

static int use_handles(void* library) {
  int (*request)(void**, int) = NULL;
  find(library, "bm_dev_request", &request);
  void (*release)(void*) = NULL;
  find(library, "bm_dev_free", &release);
  int (*synchronise)(void*) = NULL;
  find(library, "bm_handle_sync", &synchronise);
  void* handle = NULL;
  if (request(&handle, 0) != 0) return 0;
  const int good = synchronise(handle) == 0;
  release(handle);
  return good;
}

static int use_streams(void* library) {
  int (*choose)(int) = NULL;
  find(library, "tpuRtSetDevice", &choose);
  int (*make_stream)(void**) = NULL;
  find(library, "tpuRtStreamCreate", &make_stream);
  int (*make_event)(void**) = NULL;
  find(library, "tpuRtEventCreate", &make_event);
  int (*record)(void*, void*) = NULL;
  find(library, "tpuRtEventRecord", &record);
  int (*synchronise)(void*) = NULL;
  find(library, "tpuRtStreamSynchronize", &synchronise);
  int (*destroy)(void*) = NULL;
  find(library, "tpuRtStreamDestroy", &destroy);
  void *stream = NULL, *event = NULL;
  return choose(0) == 0 && make_stream(&stream) == 0 && make_event(&event) == 0 && record(event, stream) == 0 &&
         synchronise(stream) == 0 && destroy(stream) == 0;
}

int main(int count, char** paths) {
  int before = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 1; i < count; ++i) {
      void* library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
      if (library == NULL) return puts(dlerror()), 1;
      const int good = dlsym(library, "bm_dev_request") != NULL ? use_handles(library) : use_streams(library);
      if (!good) return printf("%s, round %d: a call failed\n", paths[i], round), 1;
      dlclose(library);
    }
    if (round == 1) before = open_files();
  }
  /* A thread of a stream may still be at work. */
  for (int i = 0; i < 1000 && open_files() > before; ++i) usleep(5000);
  if (open_files() > before) return printf("%d descriptors, %d after two rounds\n", open_files(), before), 1;
  return 0;
}

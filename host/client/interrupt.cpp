#include "host/client/interrupt.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>

namespace softtpu::host {
namespace {

struct PyObject;

// Of Python's stable interface, when an interpreter is in this process.
struct Python {
  int (*Py_IsInitialized)();
  void* (*PyGILState_GetThisThreadState)();
  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  int (*PyErr_CheckSignals)();
  void (*PyErr_Fetch)(PyObject**, PyObject**, PyObject**);
  void (*PyErr_NormalizeException)(PyObject**, PyObject**, PyObject**);
  void (*PyErr_Clear)();
  PyObject* (*PyEval_GetBuiltins)();
  PyObject* (*PyDict_New)();
  int (*PyDict_SetItemString)(PyObject*, const char*, PyObject*);
  PyObject* (*PyRun_String)(const char*, int, PyObject*, PyObject*);
  int (*PyThreadState_SetAsyncExc)(unsigned long, PyObject*);
  unsigned long (*PyThread_get_thread_ident)();
  void (*Py_DecRef)(PyObject*);
};

template <class Function>
bool find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

const Python* find_python() {
  static Python py{};
#define FOUND(name) find(py.name, #name)
  static const bool found =
      FOUND(Py_IsInitialized) && FOUND(PyGILState_GetThisThreadState) && FOUND(PyGILState_Ensure) &&
      FOUND(PyGILState_Release) && FOUND(PyErr_CheckSignals) && FOUND(PyErr_Fetch) && FOUND(PyErr_NormalizeException) &&
      FOUND(PyErr_Clear) && FOUND(PyEval_GetBuiltins) && FOUND(PyDict_New) && FOUND(PyDict_SetItemString) &&
      FOUND(PyRun_String) && FOUND(PyThreadState_SetAsyncExc) && FOUND(PyThread_get_thread_ident) && FOUND(Py_DecRef);
#undef FOUND
  return found ? &py : nullptr;
}

// A class whose call gives this very exception, with what it carries: what is thrown into a thread has to be a class.
PyObject* make_class_of(const Python& py, PyObject* exception) {
  constexpr int kExpression = 258;  // Py_eval_input
  PyObject* names = py.PyDict_New();
  if (names == nullptr) return nullptr;
  py.PyDict_SetItemString(names, "__builtins__", py.PyEval_GetBuiltins());
  py.PyDict_SetItemString(names, "e", exception);
  PyObject* made = py.PyRun_String("type(type(e).__name__, (type(e),), {'__new__': lambda cls, *a, _e=e: _e})",
                                   kExpression, names, names);
  py.Py_DecRef(names);
  if (made == nullptr) py.PyErr_Clear();
  return made;
}

// The exception appears behind the call into this library: an interpreter does not look for one there.
void raise_later(const Python& py) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  py.PyErr_Fetch(&type, &value, &trace);
  py.PyErr_NormalizeException(&type, &value, &trace);
  PyObject* made = value != nullptr ? make_class_of(py, value) : nullptr;
  py.PyThreadState_SetAsyncExc(py.PyThread_get_thread_ident(), made != nullptr ? made : type);
  for (PyObject* object : std::array{made, type, value, trace}) {
    if (object != nullptr) py.Py_DecRef(object);
  }
}

bool is_wanted_by_python() {
  const Python& py = *find_python();
  // Handlers run in the main thread only, and only Python's own threads can take the interpreter's lock.
  if (::gettid() != ::getpid() || py.Py_IsInitialized() == 0 || py.PyGILState_GetThisThreadState() == nullptr)
    return false;
  const int state = py.PyGILState_Ensure();
  const bool raised = py.PyErr_CheckSignals() != 0;
  if (raised) raise_later(py);
  py.PyGILState_Release(state);
  return raised;
}

}  // namespace

bool (*find_interrupt())() { return find_python() != nullptr ? is_wanted_by_python : nullptr; }

}  // namespace softtpu::host

// An Emscripten library: the JavaScript functions that wa-sqlite's C code calls. The first argument is the key of a registered callback. If the callback is a function, it gets the other arguments. If it is an object,
// the second argument points to the name of its method, which gets the rest. A function is named by its types: i int, p pointer, j 64-bit integer, passed as two halves. A synchronous build never calls those that end in _async.
/* global mergeInto, LibraryManager */

// The signatures that libadapters.h of wa-sqlite declares.
const SIGNATURES = ['ipp', 'ippp', 'vppp', 'ipppj', 'ipppi', 'ipppp', 'ipppip', 'vpppip', 'ippppi', 'ippppij', 'ipppiii', 'ippppip', 'ippipppp', 'ipppppip', 'ipppiiip', 'vppippii'];

function relay(signature) {
  const count = signature.slice(1).replaceAll('j', 'jj').length - 1;
  const [name, ...rest] = Array.from({ length: count }, (_, index) => `a${index}`);
  // Emscripten copies the text of a function into the module, so the function must not use variables of this scope.
  // oxlint-disable-next-line typescript/no-implied-eval -- the text comes from this file and runs only during the build
  return new Function('key', name, ...rest, `const target = callbacks.get(key); return typeof target === 'function' ? target(${[name, ...rest].join(', ')}) : target[UTF8ToString(${name})](${rest.join(', ')});`);
}

const library = {
  $callbacks: 'new Map()',
  $callbacks__postset: `Module['setCallback'] = (key, target) => callbacks.set(key, target); Module['deleteCallback'] = (key) => callbacks.delete(key);`,
};
for (const signature of SIGNATURES) {
  library[signature] = relay(signature);
  library[`${signature}__deps`] = ['$callbacks'];
  library[`${signature}_async`] = function () {
    throw new Error('a callback of this build cannot wait');
  };
}
mergeInto(LibraryManager.library, library);

// An Emscripten library: the functions that wa-sqlite's C code calls in JavaScript. Each takes a key, under which a callback was registered, and passes what follows on: to the callback if that is a function, else
// to the method of it that the first of them names in memory. Their names are their types (i int, p pointer, j 64-bit integer, which crosses as two halves); those that end in _async have no use in a synchronous build.
/* global mergeInto, LibraryManager */

// As libadapters.h of wa-sqlite declares them.
const SIGNATURES = ['ipp', 'ippp', 'vppp', 'ipppj', 'ipppi', 'ipppp', 'ipppip', 'vpppip', 'ippppi', 'ippppij', 'ipppiii', 'ippppip', 'ippipppp', 'ipppppip', 'ipppiiip', 'vppippii'];

function relay(signature) {
  const count = signature.slice(1).replaceAll('j', 'jj').length - 1;
  const [name, ...rest] = Array.from({ length: count }, (_, index) => `a${index}`);
  // Emscripten takes the text of a function into the module, so nothing may be closed over.
  // oxlint-disable-next-line typescript/no-implied-eval -- the text is this file's own, when the build is made
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

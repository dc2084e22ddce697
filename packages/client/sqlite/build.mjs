// Builds wa-sqlite.mjs and wa-sqlite.wasm in this folder (README.md). Fetches the sources that are not given.
// Usage: node build.mjs [--sqlite DIRECTORY] [--wa-sqlite DIRECTORY]
// Needs emcc of the version below on the PATH (Debian 12: apt-get install emscripten). Its script optimiser needs npm's
// acorn on NODE_PATH.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withHooks } from './hooks.mjs';
import { SQLITE, WA_SQLITE } from './sources.mjs';

const EMCC = '3.1.6';

/** The C files of wa-sqlite in this build, which omits its user-defined functions, hooks and progress handler. */
const WA_SQLITE_C = ['main.c', 'libauthorizer.c', 'libvfs.c'];
const WA_SQLITE_SOURCES = [...WA_SQLITE_C, 'libadapters.h', 'libvfs.js'];

const DEFINES = [
  // As wa-sqlite has them.
  'SQLITE_DEFAULT_MEMSTATUS=0', 'SQLITE_DEFAULT_WAL_SYNCHRONOUS=1', 'SQLITE_DQS=0', 'SQLITE_LIKE_DOESNT_MATCH_BLOBS', 'SQLITE_MAX_EXPR_DEPTH=0', 'SQLITE_OMIT_AUTOINIT', 'SQLITE_OMIT_DECLTYPE',
  'SQLITE_OMIT_DEPRECATED', 'SQLITE_OMIT_LOAD_EXTENSION', 'SQLITE_OMIT_SHARED_CACHE', 'SQLITE_THREADSAFE=0', 'SQLITE_USE_ALLOCA', 'SQLITE_ENABLE_BATCH_ATOMIC_WRITE',
  // Search, and the capture of changes.
  'SQLITE_ENABLE_FTS5', 'SQLITE_ENABLE_PREUPDATE_HOOK',
  // no-files.c
  'SQLITE_OS_OTHER=1', 'SQLITE_TEMP_STORE=2', 'SQLITE_MAX_MMAP_SIZE=0',
  // Omits features that nothing here calls or may turn on, which saves 9 KB and a test at every step.
  'SQLITE_OMIT_WAL', 'SQLITE_OMIT_PROGRESS_CALLBACK', 'SQLITE_OMIT_TRACE', 'SQLITE_OMIT_DESERIALIZE', 'SQLITE_UNTESTABLE',
];

/** Instructions that emcc does not use by default, although every browser that this build supports has them. */
const INSTRUCTIONS = ['-mbulk-memory', '-msign-ext', '-mnontrapping-fptoint'];

// Compiles the files that process every row and page for speed, and all others for size. -O2 for all files would hardly
// be faster, and 100 KB larger (docs/decisions/0001).
const COMPILED = ['-O2', '-flto', ...INSTRUCTIONS, '-Wno-non-literal-null-conversion', '-Wno-pragma-clang-attribute'];
const LINK_OPTIMISED = ['-Os', '-flto', ...INSTRUCTIONS];
/**
 * Options of Binaryen's wasm-opt, the same that emcc uses when it links. A second run saves another kilobyte, because
 * the first one has simplified the code.
 */
const OPTIMISED_AGAIN = ['-Os', '--enable-bulk-memory', '--enable-sign-ext', '--enable-nontrapping-float-to-int', '--enable-mutable-globals', '--low-memory-unused', '--zero-filled-memory'];

/** The files of the amalgamation that are compiled with -O2, named without `.c`. */
const FAST = ['vdbe', 'vdbeapi', 'vdbemem', 'vdbeaux', 'btree', 'pcache', 'pcache1', 'util'];
/**
 * Files that run seldom or never, compiled as with -Oz. The remaining files are compiled as with -Os: they run once per
 * statement or, like JSON, gain nothing from -O2.
 */
const SMALLEST = [
  'alter', 'analyze', 'attach', 'backup', 'build', 'callback', 'carray', 'complete', 'ctime', 'date', 'dbstat', 'delete', 'fkey', 'global', 'insert', 'legacy', 'loadext', 'main', 'memdb', 'pragma', 'printf', 'resolve', 'status', 'stmt', 'treeview', 'trigger',
  'update', 'upsert', 'vacuum', 'vdbeblob', 'vdbetrace', 'vdbevtab', 'vtab', 'wal', 'window',
];

const LINKED = [
  'ALLOW_MEMORY_GROWTH=1', 'FILESYSTEM=0', 'ENVIRONMENT=web,worker', 'TOTAL_STACK=512KB', 'TEXTDECODER=2',
  'MIN_CHROME_VERSION=90', 'MIN_FIREFOX_VERSION=90', 'MIN_SAFARI_VERSION=150000',
  'EXPORTED_RUNTIME_METHODS=ccall,getTempRet0,getValue,lengthBytesUTF8,stringToUTF8,UTF8ToString',
];

/** Our C that uses SQLite's internals. */
const OURS = ['json-storage.c', 'capture.c', 'row-effects.c', 'rows.c', 'scan.c', 'scan-lookup.c', 'scan-batch.c', 'page-pieces.c'];

/** SHA256SUMS has a hash of each source, so that a test detects a source that was changed without a new build. */
const MADE_FROM = ['build.mjs', ...OURS, 'exported-functions.txt', 'hooks.mjs', 'no-files.c', 'relay.js', 'sources.mjs'];
const MADE = ['wa-sqlite.mjs', 'wa-sqlite.wasm'];

const here = import.meta.dirname;
const { values: given } = parseArgs({ options: { sqlite: { type: 'string' }, 'wa-sqlite': { type: 'string' } } });
const work = mkdtempSync(join(tmpdir(), 'rockpool-sqlite-'));
try {
  const emcc = run('emcc', ['--version']).split('\n')[0] ?? '';
  if (!emcc.includes(` ${EMCC} `)) throw new Error(`this build needs emcc ${EMCC}, but found: ${emcc}`);
  const sqlite = given.sqlite ?? fetchSqlite();
  const waSqlite = given['wa-sqlite'] ?? fetchWaSqlite();
  check(sqlite, ['sqlite3.c', 'sqlite3.h'], SQLITE.sha256);
  check(waSqlite, WA_SQLITE_SOURCES, WA_SQLITE.sha256);
  const amalgamation = join(work, 'sqlite3.c');
  // Our own C is part of the same file, because it uses SQLite's internals, and is compiled for speed.
  const ours = OURS.map((file) => readFileSync(join(here, file), 'latin1')).join('\n');
  writeFileSync(amalgamation, `${markedBySpeed(withHooks(readFileSync(join(sqlite, 'sqlite3.c'), 'latin1')))}\n${ours}`, 'latin1');
  const objects = [amalgamation, join(here, 'no-files.c'), ...WA_SQLITE_C.map((file) => join(waSqlite, file))].map((source, index) => {
    const object = join(work, `${index}.o`);
    run('emcc', [...COMPILED, ...DEFINES.map((name) => `-D${name}`), `-I${sqlite}`, `-I${waSqlite}`, '-c', source, '-o', object]);
    return object;
  });
  const functions = readFileSync(join(here, 'exported-functions.txt'), 'utf8').trim().split('\n');
  const settings = [...LINKED, `EXPORTED_FUNCTIONS=${functions.join(',')}`].flatMap((setting) => ['-s', setting]);
  run('emcc', [...LINK_OPTIMISED, ...settings, '--js-library', join(here, 'relay.js'), '--post-js', join(waSqlite, 'libvfs.js'), ...objects, '-o', join(work, 'wa-sqlite.mjs')]);
  const wasm = join(work, 'wa-sqlite.wasm');
  run('wasm-opt', [...OPTIMISED_AGAIN, wasm, '-o', wasm]);
  for (const file of MADE) copyFileSync(join(work, file), join(here, file));
  const sums = [...MADE_FROM, ...MADE].map((file) => `${createHash('sha256').update(readFileSync(join(here, file))).digest('hex')}  ${file}\n`);
  writeFileSync(join(here, 'SHA256SUMS'), sums.join(''));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** @param {string} command @param {string[]} args @param {string} [cwd] @returns {string} what it printed */
function run(command, args, cwd = work) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/**
 * Marks how the functions of each file are compiled. Clang has no attribute for -Os, but compiles `cold` functions in
 * the same way; `minsize` is -Oz.
 * @param {string} amalgamation with the marks that SQLite puts where a file begins and ends @returns {string}
 */
function markedBySpeed(amalgamation) {
  const files = [...amalgamation.matchAll(/^\/\*+ Begin file (\w+)\.c \*+\/$/gm)].map(([, file]) => file);
  for (const file of [...FAST, ...SMALLEST]) if (!files.includes(file)) throw new Error(`SQLite no longer has the file ${file}.c`);
  return amalgamation
    .replace(/^\/\*+ Begin file (\w+)\.c \*+\/$/gm, (mark, file) => (FAST.includes(file) ? mark : `${mark}\n#pragma clang attribute push(__attribute__((${SMALLEST.includes(file) ? 'minsize' : 'cold'})), apply_to = function)`))
    .replace(/^\/\*+ End of (\w+)\.c \*+\/$/gm, (mark, file) => (FAST.includes(file) || !files.includes(file) ? mark : `${mark}\n#pragma clang attribute pop`));
}

/** @returns {string} the folder of the amalgamation */
function fetchSqlite() {
  run('npm', ['pack', '--silent', SQLITE.package]);
  const archive = readdirSync(work).find((file) => file.endsWith('.tgz')) ?? '';
  run('tar', ['xzf', archive]);
  return join(work, SQLITE.folder);
}

/** @returns {string} the folder of wa-sqlite's sources */
function fetchWaSqlite() {
  const folder = join(work, 'wa-sqlite');
  run('git', ['init', '--quiet', folder]);
  run('git', ['fetch', '--quiet', '--depth', '1', WA_SQLITE.url, WA_SQLITE.commit], folder);
  run('git', ['checkout', '--quiet', 'FETCH_HEAD'], folder);
  return join(folder, 'src');
}

/** @param {string} folder @param {string[]} files @param {string} expected SHA-256 of the files, one after the other */
function check(folder, files, expected) {
  const hash = createHash('sha256');
  for (const file of files) {
    const path = join(folder, file);
    if (!statSync(path).isFile()) throw new Error(`${path} is missing`);
    hash.update(readFileSync(path));
  }
  const found = hash.digest('hex');
  if (found !== expected) throw new Error(`${folder} has different sources: ${found} instead of ${expected}`);
}

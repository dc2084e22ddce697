// Builds capture-fuzz.c, rows-fuzz.c or scan-fuzz.c with the C compiler of this machine and its sanitizers, and runs
// it. Usage: node fuzz.mjs capture|rows|scan [COUNT] [SEED] [--sqlite DIRECTORY] [--fast] [--processes N] [--mistakes]
// [--damage] [--faults]. The folder holds sqlite3.c; without it, npm's package is fetched. --fast: optimised, without
// sanitizers. --processes: runs the queries in several processes at once. --damage and --faults: runs the queries over
// damaged pages, or while memory, reads and interrupts make them fail (scan-faults.c). --mistakes: builds scan.c and
// its parts with the mistakes of scan-mistakes.mjs, and activates them one after the other. The queries of
// scan.property.test.ts must find each.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withHooks, withJsonHooks } from '../hooks.mjs';
import { SQLITE } from '../sources.mjs';
import { MISTAKES, withMistakes } from './scan-mistakes.mjs';
import { scanQueries, TESTED } from './scan-queries.mjs';

const { values, positionals: [subject = '', ...rest] } = parseArgs({
  allowPositionals: true,
  options: { sqlite: { type: 'string' }, fast: { type: 'boolean', default: false }, mistakes: { type: 'boolean', default: false }, damage: { type: 'boolean', default: false }, faults: { type: 'boolean', default: false }, processes: { type: 'string', default: '1' } },
});
if (subject !== 'capture' && subject !== 'rows' && subject !== 'scan') throw new Error('Usage: node fuzz.mjs capture|rows|scan [COUNT] [SEED]');
const work = mkdtempSync(join(tmpdir(), 'rockpool-fuzz-'));
try {
  const sqlite = values.sqlite ?? fetchSqlite();
  const hooked = join(work, 'sqlite3-hooked.c');
  const amalgamation = readFileSync(join(sqlite, 'sqlite3.c'), 'latin1');
  writeFileSync(hooked, subject === 'scan' ? withHooks(amalgamation) : withJsonHooks(amalgamation), 'latin1');
  if (subject === 'scan' && values.mistakes) process.exitCode = await findMistakes(sqlite, hooked);
  else {
    const program = compile(sqlite, hooked, join(import.meta.dirname, '..'));
    process.exitCode = subject === 'scan' ? await runInProcesses(program, Number(rest[0] ?? 5000), Number(rest[1] ?? 1)) : (spawnSync(program, rest, { stdio: 'inherit' }).status ?? 1);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** @param {string} sqlite @param {string} amalgamation @param {string} folder of scan.c, scan-lookup.c and scan-batch.c @returns {string} the program */
function compile(sqlite, amalgamation, folder) {
  const program = join(work, 'fuzz');
  const checks = values.mistakes ? ['-O0'] : values.fast ? ['-O2'] : ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize=alignment', '-fno-sanitize-recover=all', ...(values.damage || values.faults ? [] : ['-DSQLITE_DEBUG'])];
  const files = { SQLITE: amalgamation, JSON: join(import.meta.dirname, '../json-storage.c'), CAPTURE: join(import.meta.dirname, '../capture.c'), ROWS: join(import.meta.dirname, '../rows.c'), SCAN: join(folder, 'scan.c'), LOOKUP: join(folder, 'scan-lookup.c'), BATCH: join(folder, 'scan-batch.c') };
  const defines = ['SQLITE_THREADSAFE=0', 'SQLITE_ENABLE_PREUPDATE_HOOK', 'SQLITE_ENABLE_SESSION', 'SQLITE_OMIT_LOAD_EXTENSION', 'SQLITE_LIKE_DOESNT_MATCH_BLOBS', ...Object.entries(files).map(([name, path]) => `${name}_C="${path}"`)];
  execFileSync('cc', [...checks, '-w', ...defines.map((name) => `-D${name}`), `-I${sqlite}`, join(import.meta.dirname, `${subject}-fuzz.c`), '-o', program, '-lm'], { stdio: 'inherit' });
  return program;
}

/** @param {string} program @param {number} count @param {number} seed of the first process @returns {Promise<number>} 1 if one of them failed */
async function runInProcesses(program, count, seed) {
  const processes = Number(values.processes);
  const modes = [...(values.damage ? ['damage'] : []), ...(values.faults ? ['faults'] : [])];
  const codes = [];
  for (const mode of modes.length === 0 ? [[]] : modes.map((mode) => [mode])) {
    codes.push(...(await Promise.all(Array.from({ length: processes }, (_, index) => runQueries(program, mode, scanQueries(count / processes, seed + index))))));
  }
  return codes.some((code) => code !== 0) ? 1 : 0;
}

/** @param {string} program @param {string[]} args @param {Iterable<import('./scan-queries.mjs').Line>} lines @returns {Promise<number>} its exit code, or 1 for a signal */
async function runQueries(program, args, lines) {
  const output = values.mistakes ? 'ignore' : 'inherit';
  const child = spawn(program, args, { stdio: ['pipe', output, output] });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => {});
  const marks = { database: 'D', setup: 'S', query: 'Q', write: 'W', runs: 'R' };
  for (const { kind, sql } of lines) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (!child.stdin.write(`${marks[kind]} ${sql}\n`)) await Promise.race([new Promise((resume) => child.stdin.once('drain', resume)), ended]);
  }
  child.stdin.end();
  const [code] = await ended;
  return code ?? 1;
}

/** @param {string} sqlite @param {string} hooked @returns {Promise<number>} 1 if a mistake was not found */
async function findMistakes(sqlite, hooked) {
  for (const file of ['scan.c', 'scan-lookup.c', 'scan-batch.c']) writeFileSync(join(work, file), withMistakes(file, readFileSync(join(import.meta.dirname, '..', file), 'utf8')));
  const program = compile(sqlite, hooked, work);
  const lines = [...scanQueries(TESTED.count, TESTED.seed, TESTED.mostRows)];
  if ((await runQueries(program, ['-1'], lines)) !== 0) throw new Error('the queries differ without a mistake');
  let missed = 0;
  for (const [index, { name }] of MISTAKES.entries()) {
    const isFound = (await runQueries(program, [String(index + 1)], lines)) !== 0;
    console.log(`${isFound ? 'found' : 'MISSED'}: ${name}`);
    if (!isFound) missed = 1;
  }
  return missed;
}

/** @returns {string} the folder of the amalgamation */
function fetchSqlite() {
  execFileSync('npm', ['pack', '--silent', SQLITE.package], { cwd: work });
  execFileSync('tar', ['xzf', readdirSync(work).find((file) => file.endsWith('.tgz')) ?? ''], { cwd: work });
  return join(work, SQLITE.folder);
}

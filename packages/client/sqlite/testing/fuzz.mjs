// Builds capture-fuzz.c or rows-fuzz.c with the C compiler of this machine and its sanitizers, and runs it.
// Usage: node fuzz.mjs capture|rows [COUNT] [SEED] [--sqlite DIRECTORY] [--fast]. The folder holds sqlite3.c; without it, npm's package is fetched. --fast: optimised, without sanitizers.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SQLITE } from '../sources.mjs';

const { values, positionals: [subject = '', ...rest] } = parseArgs({ allowPositionals: true, options: { sqlite: { type: 'string' }, fast: { type: 'boolean', default: false } } });
if (subject !== 'capture' && subject !== 'rows') throw new Error('Usage: node fuzz.mjs capture|rows [COUNT] [SEED]');
const work = mkdtempSync(join(tmpdir(), 'rockpool-capture-fuzz-'));
try {
  const sqlite = values.sqlite ?? fetchSqlite();
  const program = join(work, 'fuzz');
  const checks = values.fast ? ['-O2'] : ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize=alignment', '-fno-sanitize-recover=all', '-DSQLITE_DEBUG'];
  const defines = ['SQLITE_THREADSAFE=0', 'SQLITE_ENABLE_PREUPDATE_HOOK', 'SQLITE_ENABLE_SESSION', 'SQLITE_OMIT_LOAD_EXTENSION', `SQLITE_C="${join(sqlite, 'sqlite3.c')}"`, ...['capture', 'rows'].map((name) => `${name.toUpperCase()}_C="${join(import.meta.dirname, `../${name}.c`)}"`)];
  execFileSync('cc', [...checks, '-w', ...defines.map((name) => `-D${name}`), `-I${sqlite}`, join(import.meta.dirname, `${subject}-fuzz.c`), '-o', program, '-lm'], { stdio: 'inherit' });
  process.exitCode = spawnSync(program, rest, { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** @returns {string} the folder of the amalgamation */
function fetchSqlite() {
  execFileSync('npm', ['pack', '--silent', SQLITE.package], { cwd: work });
  execFileSync('tar', ['xzf', readdirSync(work).find((file) => file.endsWith('.tgz')) ?? ''], { cwd: work });
  return join(work, SQLITE.folder);
}

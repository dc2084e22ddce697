import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Connection } from '#client/worker/sqlite/connection.ts';
import { loadSqlite } from '#client/worker/sqlite/load-sqlite.node.ts';

const folder = new URL('../../packages/client/sqlite/', import.meta.url);

it('the SQLite build matches its script and sources', () => {
  const sums = readFileSync(new URL('SHA256SUMS', folder), 'utf8').trim().split('\n');
  expect(sums.map((line) => line.slice(66))).toEqual([
    'build.mjs',
    'json-storage.c',
    'capture.c',
    'row-effects.c',
    'rows.c',
    'scan.c',
    'scan-lookup.c',
    'scan-batch.c',
    'page-pieces.c',
    'exported-functions.txt',
    'hooks.mjs',
    'no-files.c',
    'relay.js',
    'sources.mjs',
    'wa-sqlite.mjs',
    'wa-sqlite.wasm',
  ]);
  for (const line of sums) {
    const file = line.slice(66);
    expect(
      createHash('sha256')
        .update(readFileSync(new URL(file, folder)))
        .digest('hex'),
      `${file}: node packages/client/sqlite/build.mjs makes it again`,
    ).toBe(line.slice(0, 64));
  }
});

it('the SQLite build has the features that capture and search need, and keeps temporary data in memory', async () => {
  const connection = new Connection(await loadSqlite(), { path: ':memory:' });
  const options = connection.rows('PRAGMA compile_options').map(([option]) => option);
  expect(options).toEqual(
    expect.arrayContaining([
      'ENABLE_FTS5',
      'ENABLE_PREUPDATE_HOOK',
      'ENABLE_BATCH_ATOMIC_WRITE',
      'TEMP_STORE=2',
      'DQS=0',
    ]),
  );
  // Other builds spill a sort that exceeds the cache to a temporary file.
  connection.exec('PRAGMA cache_size = 10');
  expect(
    connection.value(
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT count(*) FROM (SELECT hex(randomblob(20)) AS a FROM n ORDER BY a)',
    ),
  ).toBe(50_000);
  expect(connection.value("SELECT abs(julianday('now') - 2440587.5 - ? / 86400000.0) < 0.001", Date.now())).toBe(1);
  connection.close();
});

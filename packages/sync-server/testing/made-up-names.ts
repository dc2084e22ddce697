import { readdirSync } from 'node:fs';
import { encodeDocumentCell } from '@rockpool/shared/document';
import { anyCharacter } from '@rockpool/shared/testing';
import fc from 'fast-check';
import { expect } from 'vitest';
import { insert } from './changeset.ts';
import { HttpSessionClient } from './http-session-client.ts';
import { TEST_TABLES } from './test-schema.ts';
import { DATABASE, type TestServer } from './test-server.ts';

/** Names with a meaning in SQL, file systems or JavaScript. */
const NASTY = [
  "'; DROP TABLE accounts; --",
  '" OR 1=1 --',
  '`',
  ';',
  "''",
  '"',
  '""',
  ']',
  '[accounts]',
  "accounts' UNION SELECT name FROM accounts --",
  '0; ATTACH x',
  '$1',
  ':name',
  '?1',
  '@x',
  '/* */',
  '\\',
  '%',
  '_',
  'rowid',
  'oid',
  '_rowid_',
  'sqlite_%',
  'sqlite_master',
  'main.accounts',
  'pg_catalog',
  'rockpool.accounts',
  'rockpool_row',
  '%00',
  '..',
  '..',
  '../household',
  '/etc/passwd',
  '..\\..\\x',
  'con',
  'household/',
  'household%2f..',
  'household.sqlite',
  'household.sqlite-wal',
  'sqlite_schema',
  'rockpool_log',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'select',
  'NULL',
  'null',
  'undefined',
  'NaN',
  '1e400',
  '-0',
  '0x10',
  '${x}',
  '{{x}}',
  '{"$gt":""}',
  '<script>',
  'javascript:x',
  '\u202eevil',
  '\ufeffx',
  'ĳ',
  'ı',
  'K',
  '𝓱ousehold',
  'ａccounts',
  'a'.repeat(65),
  ' ',
  '\n',
  '\r\nx: y',
  '*',
  '?',
  '-rf',
  '~',
  '~a',
  '$(x)',
  '|x',
  '&&',
  '#',
];
const nasty = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.tuple(fc.constantFrom(...NASTY), fc.string({ maxLength: 5 })).map(([a, b]) => a + b),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 }),
);
const isDatabaseName = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text);

const schemaOf = (server: TestServer): unknown => server.query('SELECT sql FROM sqlite_schema ORDER BY name');
const filesOf = (server: TestServer): string[] =>
  readdirSync(server.dataDir, { recursive: true, encoding: 'utf8' }).sort();

/** Checks that the names open no database and touch no file, even if a token lists them. */
export async function checkNamesOfDatabases(server: TestServer, names: number): Promise<void> {
  await (await server.open()).commit([insert('accounts', 'x', { name: 'x' })]);
  const before = { schema: schemaOf(server), files: filesOf(server) };
  await fc.assert(
    fc.asyncProperty(
      nasty.filter((text) => !isDatabaseName(text)),
      async (name) => {
        const token = await server.sync.issueToken({
          principal: 'ann',
          databases: [name],
          role: 'owner',
          ttlMs: 3_600_000,
        });
        const connection = await server.connect();
        connection.hello(token, name);
        expect(await connection.failure()).toEqual({ type: 'failure', code: 'auth-database-forbidden', fields: {} });
        const response = await server.ask('GET', `/databases/${encodeURIComponent(name)}/members`, { token });
        expect([403, 404]).toContain(response.status);
        await response.body?.cancel();
        expect(() => server.sync.database(name)).toThrowError(
          expect.objectContaining({ code: 'auth-database-forbidden' }) as Error,
        );
      },
    ),
    { numRuns: names },
  );
  expect({ schema: schemaOf(server), files: filesOf(server) }).toEqual(before);
  expect(server.query('SELECT id FROM accounts')).toEqual([['x']]);
}

/**
 * Checks that the names are not accepted as a schema, session, invitation, or any other code that a client may send.
 */
export async function checkNamesInRequests(server: TestServer, names: number): Promise<void> {
  const [token, listener] = [await server.token('owner'), await server.open()];
  const statusOf = async (method: string, path: string, body?: string): Promise<number> => {
    const response = await server.ask(method, path, { token, ...(body !== undefined && { body }) });
    await response.body?.cancel();
    return response.status;
  };
  await fc.assert(
    fc.asyncProperty(nasty, async (name) => {
      const quoted = encodeURIComponent(name.toWellFormed());
      expect(await statusOf('GET', `/databases/${DATABASE}/snapshot?schema=${quoted}`)).toBe(400);
      expect(await statusOf('POST', '/invitations/accept', JSON.stringify({ code: name }))).toBe(400);
      expect(await statusOf('PUT', `/databases/${DATABASE}/members/ben`, JSON.stringify({ role: name }))).toBe(400);
      // Clients resolve `..` and `.` before they send a request.
      expect([204, 400, 401, 404]).toContain(await statusOf('DELETE', `/sessions/${quoted}`));
      const stranger = await server.connect();
      stranger.hello(token, DATABASE, { schemaHash: name });
      expect(await stranger.failure()).toMatchObject({ code: 'schema-mismatch' });
    }),
    { numRuns: names },
  );
  const client = await HttpSessionClient.open(server.ask);
  expect(await client.leave()).toBe(204);
  await listener.roundTrip();
  expect(listener.unread).toBe(0);
}

/** Checks that the host program cannot use the names as tables and columns, or as positions in its feed. */
export async function checkNamesAtBackend(server: TestServer, names: number): Promise<void> {
  const backend = server.sync.database(DATABASE);
  const watermark = await backend.transaction((tx) => tx.insert('accounts', { id: 'x', name: 'x' }));
  const schema = schemaOf(server);
  const taken = new Set(TEST_TABLES.flatMap(({ name, columns }) => [name, ...columns.map((column) => column.name)]));
  await fc.assert(
    fc.asyncProperty(
      nasty.filter((text) => !taken.has(text)),
      async (name) => {
        const columns = Object.fromEntries([
          ['id', 'x'],
          [name, 'x'],
        ]);
        await expect(backend.transaction((tx) => tx.insert(name, { id: 'x' }))).rejects.toMatchObject({
          code: 'schema-unknown-table',
        });
        await expect(backend.transaction((tx) => tx.insert('accounts', columns))).rejects.toMatchObject({
          code: 'schema-unknown-column',
        });
        await expect(backend.transaction((tx) => tx.update('accounts', { id: 'x' }, columns))).rejects.toMatchObject({
          code: 'schema-unknown-column',
        });
        await expect(backend.transaction((tx) => tx.delete(name, { id: 'x' }))).rejects.toMatchObject({
          code: 'schema-unknown-table',
        });
        await expect(backend.transaction((tx) => tx.delete('accounts', { id: name }))).rejects.toMatchObject({
          code: 'row-missing',
        });
        expect(await backend.changesAfter({ logEpoch: name, watermark: 1, logHash: name })).toMatchObject({
          whole: true,
          watermark,
        });
      },
    ),
    { numRuns: names },
  );
  expect(schemaOf(server)).toEqual(schema);
  expect(server.query('SELECT id, name FROM accounts')).toEqual([['x', 'x']]);
}

const NAMES_IN_CHANGESET = 10;

/** Checks that the names are values like any other in rows, keys, documents and presence, and as ids of members. */
export async function checkNamesAsValues(server: TestServer, names: number): Promise<void> {
  const owner = await server.token('owner', 'olga');
  const connection = await server.open();
  const present = await server.open();
  const schema = schemaOf(server);
  const written: string[] = [];
  const stored = nasty
    .map((text) => text.replaceAll('\u0000', '').toWellFormed())
    .filter((text) => text.trim() === text && text !== '' && text !== '.' && text !== '..');
  await fc.assert(
    fc.asyncProperty(
      fc.array(stored, { minLength: NAMES_IN_CHANGESET, maxLength: NAMES_IN_CHANGESET }),
      async (texts) => {
        const rows = texts.flatMap((text, i) => {
          const number = written.length + i;
          const content = encodeDocumentCell({
            kind: 'content',
            json: JSON.stringify({ body: text, [`${text} `]: text }),
          });
          return [
            insert('entries', `n${number}`, { amount: 1n, note: text }),
            insert('labels', [text, BigInt(number)], {}),
            insert('pages', `n${number}`, { title: text, content }),
          ];
        });
        written.push(...texts);
        expect(await connection.commit(rows)).toMatchObject({ kind: 'admitted' });
        const [text = ''] = texts;
        present.send({
          type: 'presence',
          states: [{ tabId: new Uint8Array(16), topic: text, stateJson: JSON.stringify(text) }],
        });
        present.send({ type: 'presence', states: [{ tabId: new Uint8Array(16), topic: text, stateJson: null }] });
        const response = await server.ask('PUT', `/databases/${DATABASE}/members/${encodeURIComponent(text)}`, {
          token: owner,
          body: JSON.stringify({ role: 'viewer' }),
        });
        expect(response.status).toBe(204);
        expect(server.sync.members.list(DATABASE)).toContainEqual({ principal: text, role: 'viewer' });
      },
    ),
    { numRuns: Math.ceil(names / NAMES_IN_CHANGESET) },
  );
  await present.roundTrip();
  const count = BigInt(written.length);
  expect(server.query(`SELECT note FROM entries ORDER BY CAST(substr(id, 2) AS INTEGER)`).flat()).toEqual(written);
  expect(server.query('SELECT entry_id FROM labels ORDER BY position').flat()).toEqual(written);
  expect(
    server
      .query(
        `SELECT json_extract(content, '$.body') FROM pages WHERE title = json_extract(content, '$.body') ORDER BY CAST(substr(id, 2) AS INTEGER)`,
      )
      .flat(),
  ).toEqual(written);
  expect(
    server.query(`SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM labels), (SELECT count(*) FROM pages)`),
  ).toEqual([[count, count, count]]);
  expect(schemaOf(server)).toEqual(schema);
}

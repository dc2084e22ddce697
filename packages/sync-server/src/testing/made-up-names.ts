import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { insert } from './changeset.ts';
import { DATABASE, type TestServer } from './test-server.ts';

/** What SQL, file systems and JavaScript have a meaning for. */
const NASTY = [
  "'; DROP TABLE accounts; --", '" OR 1=1 --', '`', ';', "''", '%00', '..', '../..', '../household', '/etc/passwd', '..\\..\\x', 'con', 'household/', 'household%2f..', 'household.sqlite', 'sqlite_schema', 'sqlite_%', 'rockpool_log',
  '__proto__', 'constructor', 'toString', 'select', 'NULL', '${x}', '{{x}}', '<script>', '\u202eevil', 'ĳ', '𝓱ousehold', 'a'.repeat(65), ' ', '\n', '*', '?', '-rf', '~', '~a',
];
const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.tuple(fc.constantFrom(...NASTY), fc.string({ maxLength: 5 })).map(([a, b]) => a + b), fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }));
const isName = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text);

const schemaOf = (server: TestServer): unknown => server.query('SELECT sql FROM sqlite_schema ORDER BY name');

/** They open no database and touch no file, even with a token that lists them. */
export async function checkNamesOfDatabases(server: TestServer, runs: number): Promise<void> {
  await (await server.open()).commit([insert('accounts', 'x', { name: 'x' })]);
  const before = { schema: schemaOf(server), files: readdirSync(join(server.dataDir, 'databases')).sort() };
  await fc.assert(
    fc.asyncProperty(nasty.filter((text) => !isName(text)), async (name) => {
      const token = await server.sync.issueToken({ principal: 'ann', databases: [name], role: 'owner', ttlMs: 60_000 });
      const connection = await server.connect();
      connection.hello(token, name);
      expect(await connection.failure()).toEqual({ type: 'failure', code: 'auth-database-forbidden', fields: {} });
      const response = await server.ask('GET', `/databases/${encodeURIComponent(name)}/members`, { token });
      expect([403, 404]).toContain(response.status);
      await response.body?.cancel();
    }),
    { numRuns: runs },
  );
  expect({ schema: schemaOf(server), files: readdirSync(join(server.dataDir, 'databases')).sort() }).toEqual(before);
  expect(server.query('SELECT id FROM accounts')).toEqual([['x']]);
}

/** They are values like any other where a person or a text may have them. */
export async function checkNamesAsValues(server: TestServer, runs: number): Promise<void> {
  const owner = await server.token('owner', 'olga');
  const connection = await server.open();
  const schema = schemaOf(server);
  let number = 0;
  const stored = nasty.map((text) => text.replaceAll('\u0000', '').toWellFormed()).filter((text) => text.trim() === text && text !== '' && text !== '.' && text !== '..');
  await fc.assert(
    fc.asyncProperty(stored, async (text) => {
      const id = `n${++number}`;
      expect(await connection.commit([insert('entries', id, { amount: 1n, note: text })])).toMatchObject({ kind: 'admitted' });
      expect(server.query(`SELECT note FROM entries WHERE id = '${id}'`)).toEqual([[text]]);
      const response = await server.ask('PUT', `/databases/${DATABASE}/members/${encodeURIComponent(text)}`, { token: owner, body: JSON.stringify({ role: 'viewer' }) });
      expect(response.status).toBe(204);
      expect(server.sync.members.list(DATABASE)).toContainEqual({ principal: text, role: 'viewer' });
    }),
    { numRuns: runs },
  );
  expect(schemaOf(server)).toEqual(schema);
}

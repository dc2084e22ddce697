import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { insert, toBody } from '../changeset.ts';
import { canaryDatabaseId, canaryId, canaryInteger, canaryReal, canaryText, findCanaries } from './canary.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const TENANTS = [0, 1, 35, 4_711, 2 ** 20 - 1];
const found = (bytes: Uint8Array | string): string[] =>
  [
    ...new Set([...findCanaries(Buffer.from(bytes as string))].map(({ form, tenant }) => `${form} of ${tenant}`)),
  ].sort();
const all = (tenant: number): string[] => ['integer', 'real', 'text'].map((form) => `${form} of ${tenant}`);

describe.each(TENANTS)('the data of tenant %i', (tenant) => {
  const [integer, real, text] = [canaryInteger(tenant, 63), canaryReal(tenant, 15), canaryText(tenant, 7)];

  it('is found in messages between client and server', () => {
    expect(found(toBody([insert('entries', 'k', { amount: integer, note: text, weight: real })]))).toEqual(all(tenant));
    expect(
      found(toBody([insert('pages', 'k', { title: Buffer.from(text) }), insert('splits', [integer], {})])),
    ).toEqual(all(tenant).filter((form) => !form.startsWith('real')));
  });

  it('is found in a SQLite file', () => {
    const folder = temporaryFolder();
    const file = new DatabaseSync(join(folder, 'file'));
    file.exec('CREATE TABLE t (a, b, c)');
    file.prepare('INSERT INTO t VALUES (?, ?, ?)').run(integer, real, text);
    file.close();
    expect(found(readFileSync(join(folder, 'file')))).toEqual(all(tenant));
  });

  it('is found in JSON, as numbers and as hex', () => {
    expect(found(JSON.stringify({ integer: String(integer), real, hex: Buffer.from(text).toString('hex') }))).toEqual(
      all(tenant),
    );
    expect(found(`${canaryDatabaseId(tenant)} `)).toEqual([`name of ${tenant}`]);
    expect(found(Buffer.from(canaryId(tenant, 9)).toString('hex'))).toEqual([`name of ${tenant}`]);
  });
});

it('is not found in anything else', () => {
  expect(found(Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * i * 31 + (i >> 3)) % 256)))).toEqual([]);
  expect(found('a canary, 123456789012345678901234567890, tenant-')).toEqual([]);
});

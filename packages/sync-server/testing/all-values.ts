import fc from 'fast-check';
import { cellValue } from '@rockpool/shared/testing';
import type { CellValue } from '@rockpool/shared';
import { expect } from 'vitest';
import { insert } from './changeset.ts';
import { TestSite } from './test-client.ts';
import type { TestServer } from './test-server.ts';
import { cells, deliveredRows } from './delivered-rows.ts';

const ROWS = 100;

const isText = (value: CellValue): value is string | null => value === null || typeof value === 'string';
const isReal = (value: CellValue): value is number | null => value === null || typeof value === 'number';
const isBlob = (value: CellValue): value is Uint8Array | null => value === null || value instanceof Uint8Array;

/** Arbitrary values of each column's type. */
const row = fc.record(
  { note: cellValue.filter(isText), weight: cellValue.filter(isReal), receipt: cellValue.filter(isBlob) },
  { noNullPrototype: true },
);
const impossible = fc.constantFrom<{ note: string } | { weight: number }>(
  { note: 'a\u0000b' },
  { weight: NaN },
  { weight: Infinity },
  { weight: -Infinity },
);

/**
 * Pushes at least `count` values, including the edge values of each type, and checks that the server stores and
 * delivers them unchanged, or rejects them with a reason.
 */
export async function checkValues(server: TestServer, count: number, seed: number): Promise<void> {
  const writer = await server.open();
  const reader = await server.open(new TestSite(), { principal: 'bob' });
  for (let batch = 0; batch * ROWS * 3 < count; batch++) {
    const rows = fc
      .sample(row, { seed: seed + batch, numRuns: ROWS })
      .map((values, i) => [`${batch}-${i}`, values] as const);
    expect(
      await writer.commit(rows.map(([id, values]) => insert('entries', id, { amount: 1n, ...values }))),
    ).toMatchObject({ kind: 'admitted' });
    const received = new Map(
      deliveredRows(await reader.delivery(), 'entries').map(({ key, cells: delivered }) => [key[0], delivered]),
    );
    reader.confirm();
    const stored = new Map(
      server
        .query(`SELECT id, note, weight, receipt FROM entries WHERE id >= '${batch}-' AND id < '${batch}.'`)
        .map(([id, ...values]) => [id, values]),
    );
    for (const [id, values] of rows) {
      expect(received.get(id)).toEqual(cells({ account_id: null, amount: 1n, ...values }));
      expect(stored.get(id)).toEqual([values.note, values.weight, values.receipt]);
    }
    const [wrong = {}] = fc.sample(impossible, { seed: seed + batch, numRuns: 1 });
    expect(await writer.commit([insert('entries', `${batch}-wrong`, { amount: 1n, ...wrong })])).toMatchObject({
      kind: 'rejected',
      code: 'value-invalid',
    });
  }
}

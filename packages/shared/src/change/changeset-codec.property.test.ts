import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { changesetBody } from '../../testing/arbitraries.ts';
import type { BeforeGroup } from './changeset.ts';
import { decodeBefore, decodeChangesetBody, encodeBefore, encodeChangesetBody } from './changeset-codec.ts';

describe('changeset codec', () => {
  it('decodes every body that it encoded, with exact types of values', () => {
    fc.assert(
      fc.property(changesetBody, (body) => {
        expect(decodeChangesetBody(encodeChangesetBody(body))).toStrictEqual(body);
      }),
      { numRuns: atLevel({ test: 200, verify: 500 }) },
    );
  });

  it('decodes old values with their groups', () => {
    fc.assert(
      fc.property(changesetBody, ({ groups }) => {
        const before = groups.map(({ columnIds, values }): BeforeGroup => ({ columnIds, values }));
        expect(decodeBefore(encodeBefore(before), groups)).toStrictEqual(before);
      }),
    );
  });

  it('rejects a damaged body with changeset-invalid or decodes it to a valid body, without a crash or a huge allocation', () => {
    fc.assert(
      fc.property(changesetBody, fc.nat(), fc.integer({ min: 1, max: 255 }), (body, at, flip) => {
        const bytes = encodeChangesetBody(body);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] as number) ^ flip;
        decodeOrTypedError(bytes);
        decodeOrTypedError(bytes.subarray(0, place));
      }),
      { numRuns: atLevel({ test: 700, verify: 2_000 }) },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), decodeOrTypedError), {
      numRuns: atLevel({ test: 700, verify: 2_000 }),
    });
  });

  it('rejects NULL in a key, repeated columns, and columns in a delete', () => {
    const group = { tableId: 7, kind: 'update' as const, rowCount: 1, keys: [['k']], columnIds: [5], values: [[1n]] };
    const encoded = (patch: object): Uint8Array =>
      encodeChangesetBody({ atomic: false, groups: [{ ...group, ...patch }], cellBases: [] });
    expect(() => decodeChangesetBody(encoded({ keys: [[null]] }))).toThrow('a key contains NULL');
    expect(() => decodeChangesetBody(encoded({ columnIds: [5, 5], values: [[1n], [2n]] }))).toThrow('not distinct');
    expect(() => decodeChangesetBody(encoded({ kind: 'delete' }))).toThrow('do not match the kind of change');
    expect(() => decodeChangesetBody(encoded({ columnIds: [], values: [] }))).toThrow(
      'do not match the kind of change',
    );
    expect(() => decodeChangesetBody(encoded({ columnIds: [0] }))).toThrow('not distinct');
  });
});

function decodeOrTypedError(bytes: Uint8Array): void {
  try {
    decodeChangesetBody(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(RockpoolError);
    expect((error as RockpoolError).code).toMatch(/^(changeset|key)-invalid$/);
  }
}

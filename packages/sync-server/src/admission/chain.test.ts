import { changesetHash, FIRST_PREVIOUS_HASH, type Push } from '@rockpool/shared';
import { expect, it } from 'vitest';
import type { SiteState } from '../log/sites.ts';
import { undecidedChangesets } from './chain.ts';

const COUNT = 1_000;

const push: Push = {
  previousHash: FIRST_PREVIOUS_HASH,
  olderEpochUpTo: 0,
  changesets: Array.from({ length: COUNT }, (_, index) => ({
    sequence: index + 1,
    stampUs: index,
    base: 0,
    ageUs: 0,
    body: Uint8Array.of(index & 0xff),
  })),
} as unknown as Push;

const hashes = [FIRST_PREVIOUS_HASH];
for (const changeset of push.changesets) hashes.push(changesetHash(hashes.at(-1) as Uint8Array, changeset));

it('the hash chain checks one hash for a push that is admitted in parts, however many of its changesets are decided', () => {
  for (const decided of [1, 500, COUNT]) {
    const asked: number[] = [];
    const site = { lastSequence: decided } as SiteState;
    const undecided = undecidedChangesets(site, push, (sequence) => {
      asked.push(sequence);
      return hashes[sequence] as Uint8Array;
    });
    expect(asked).toEqual([decided]);
    expect(undecided.map(({ changeset }) => changeset.sequence)).toEqual(
      push.changesets.slice(decided).map(({ sequence }) => sequence),
    );
    expect(undecided.map(({ hash }) => hash)).toEqual(hashes.slice(decided + 1));
  }
});

it('the hash chain names the first changeset that another copy pushed with a different hash', () => {
  const site = { lastSequence: 500 } as SiteState;
  const other = (sequence: number): Uint8Array | null =>
    sequence >= 123 ? new Uint8Array(16).fill(1) : (hashes[sequence] as Uint8Array);
  expect(() => undecidedChangesets(site, push, other)).toThrow(
    expect.objectContaining({ code: 'site-copied', fields: { sequence: 123 } }),
  );
});

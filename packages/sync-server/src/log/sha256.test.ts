import { changesetHash } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { nativeSha256 } from './sha256.ts';

it('the server hashes small and large changesets as clients do', () => {
  for (const sizeBytes of [0, 100, 64 * 1024 - 1, 64 * 1024, 200_000]) {
    const changeset = {
      sequence: 7,
      stampUs: 1_763_683_200_000_123,
      base: 3,
      body: Uint8Array.from({ length: sizeBytes }, (_, i) => i * 31),
    };
    const previous = Uint8Array.from({ length: 16 }, (_, i) => i);
    expect(changesetHash(previous, changeset, nativeSha256)).toStrictEqual(changesetHash(previous, changeset));
  }
});

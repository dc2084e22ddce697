import { randomBytes } from 'node:crypto';
import { FIRST_PREVIOUS_HASH, ID_BYTES, type Push } from '@rockpool/shared';
import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { DatabaseFile } from '../store/database-file.ts';

/** The site as which the server's own program writes into this database: 32 hex digits, made when it first does. */
export function ownSite({ sql }: DatabaseFile): string {
  const known = readMeta(sql, 'own_site');
  if (known !== undefined) return Buffer.from(known as Uint8Array).toString('hex');
  const made = randomBytes(ID_BYTES);
  writeMeta(sql, 'own_site', made);
  return made.toString('hex');
}

/** The next changeset of that site. `base`: the watermark at which it was made. */
export function ownPush(file: DatabaseFile, site: string, body: Uint8Array, base: number, nowMs: number): Push {
  const state = file.sites.get(site);
  const sequence = (state?.lastSequence ?? 0) + 1;
  return {
    type: 'push',
    previousHash: state?.lastHash ?? FIRST_PREVIOUS_HASH,
    olderEpochUpTo: 0,
    changesets: [{ sequence, stampUs: nowMs * 1000, ageUs: 0, base, body }],
  };
}

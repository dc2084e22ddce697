import { randomBytes } from 'node:crypto';
import { FIRST_PREVIOUS_HASH, ID_BYTES, type Push } from '@rockpool/shared';
import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { DatabaseFile } from '../store/database-file.ts';

/** The site id of the server's own program in this database: 32 hex digits, created at its first write. */
export function ownSite({ sql }: DatabaseFile): string {
  const known = readMeta(sql, 'own_site');
  if (known !== undefined) return Buffer.from(known as Uint8Array).toString('hex');
  const made = randomBytes(ID_BYTES);
  writeMeta(sql, 'own_site', made);
  return made.toString('hex');
}

/** Returns a push with the next changeset of `site`. `base` is the watermark of the state that the author read. */
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

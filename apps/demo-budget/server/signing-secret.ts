import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The secret that signs tokens: created on the first run and kept in the data folder, readable by its owner alone. It
 * is written to a temporary file and linked into place, so that two servers that start at once end up with one secret,
 * and no reader sees a partial file.
 */
export function signingSecret(dataFolder: string): Uint8Array {
  const path = join(dataFolder, 'signing-secret');
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, randomBytes(32), { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return readFileSync(path);
}

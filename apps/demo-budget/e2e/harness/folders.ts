import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A new folder for a server's data or a browser's profile. The name is short: Chromium creates a socket below its
 * profile, and a socket path is limited to about 100 characters.
 */
export function makeFolder(purpose: 'data' | 'dist' | 'profile'): string {
  return mkdtempSync(join(tmpdir(), `rp-${purpose}-`));
}

/** Retries, because the last processes of a killed browser may still be writing briefly. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

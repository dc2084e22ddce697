import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../scripts/children.mjs';

/** PGlite alone is 50 MB; on a slow line that takes minutes. */
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** Installs the packages in `folder`'s lockfile unless they are installed. Throws if the install fails. */
export async function installPeers(folder: string): Promise<void> {
  const stampFile = join(folder, 'node_modules/.rockpool-peers');
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  console.log('Installing the peer libraries …');
  // Not `ci`: it refuses a lockfile without the optional packages of other systems, which some registries lack.
  const install = await run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    quiet: true,
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  if (install.exitCode !== 0) throw new Error(`npm install in ${folder} failed:\n${install.output}`);
  writeFileSync(stampFile, wanted);
}

import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unavailable, type Destination, type StoredObject } from './destination.ts';

/** The folder of objects that are being written. */
const INCOMING = '.incoming';

/** A file that has not been written for this time was left behind by a server that was killed. */
const ABANDONED_MS = 24 * 60 * 60_000;

/** Keeps copies as files of a folder, such as a mounted disk. An object appears whole or not at all. */
export class FolderDestination implements Destination {
  readonly name: string;
  private readonly folder: string;
  private readonly madeFolders = new Set<string>();
  private cleaned: Promise<void> | null = null;
  /** Whether this folder has contained an object. */
  private hasContents = false;
  /**
   * Whether the folder may be unmounted: it had contents, and a put failed. Until an object is read or stored again, no
   * folder is made: it would be below the mount point, and its objects missing from the disk.
   */
  private mayBeUnmounted = false;

  constructor(folder: string) {
    this.folder = folder;
    this.name = folder;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.folder, key);
    const incoming = join(this.folder, INCOMING, randomUUID());
    await this.attempt('put', async () => {
      await this.makeFolder(dirname(incoming));
      await (this.cleaned ??= removeAbandoned(dirname(incoming)).catch(() => undefined));
      try {
        const file = await open(incoming, 'w');
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await this.makeFolder(dirname(path));
        await rename(incoming, path);
      } catch (error) {
        this.madeFolders.clear();
        this.mayBeUnmounted = this.hasContents;
        await rm(incoming, { force: true }).catch(() => undefined);
        throw error;
      }
      await syncFolder(dirname(path));
      this.hasSeenContents();
    });
  }

  async get(key: string): Promise<Uint8Array | null> {
    const content = await this.attempt('get', () => orNull(readFile(join(this.folder, key))));
    if (content !== null) this.hasSeenContents();
    return content;
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    // Reads only the folders that the prefix names.
    const within = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const keys = await this.attempt('list', () => this.keysIn(within));
    keys.sort();
    for (const key of keys) {
      if (!key.startsWith(prefix)) continue;
      const facts = await this.attempt('list', () => orNull(stat(join(this.folder, key))));
      if (facts !== null) yield { key, sizeBytes: facts.size };
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    await this.attempt('delete', async () => {
      for (const key of keys) await rm(join(this.folder, key), { force: true });
    });
  }

  private async keysIn(within: string): Promise<string[]> {
    const entries = await orNull(readdir(join(this.folder, within), { withFileTypes: true }));
    const keys: string[] = [];
    for (const entry of entries ?? [])
      if (entry.name !== INCOMING) {
        const key = within + entry.name;
        if (entry.isDirectory()) keys.push(...(await this.keysIn(`${key}/`)));
        else keys.push(key);
      }
    return keys;
  }

  private async makeFolder(path: string): Promise<void> {
    if (this.mayBeUnmounted || this.madeFolders.has(path)) return;
    const first = await mkdir(path, { recursive: true });
    if (first !== undefined) await syncFolder(dirname(first));
    this.madeFolders.add(path);
  }

  private hasSeenContents(): void {
    this.hasContents = true;
    this.mayBeUnmounted = false;
  }

  private async attempt<Result>(operation: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw unavailable(this.name, operation, { cause: error });
    }
  }
}

/** Other threads, and a server that takes over, may be writing the other files of the folder. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (Date.now() - (await stat(path)).mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
}

async function orNull<Result>(reading: Promise<Result>): Promise<Result | null> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows has no call that syncs a folder, because its file systems make names durable themselves.
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

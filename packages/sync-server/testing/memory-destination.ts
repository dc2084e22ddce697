import { unavailable, type Destination, type StoredObject } from '../src/backup/destination.ts';

/** A destination in memory that fails on demand. */
export class MemoryDestination implements Destination {
  readonly name = 'memory';
  readonly objects: Map<string, Uint8Array> = new Map();
  /** Called before each put. `refuse` stores nothing; `lose-answer` stores the object and fails. */
  onPut: (key: string) => 'store' | 'refuse' | 'lose-answer' = () => 'store';
  /** Called before each get. `refuse` fails. */
  onGet: (key: string) => 'answer' | 'refuse' = () => 'answer';

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await Promise.resolve();
    const what = this.onPut(key);
    if (what !== 'refuse') this.objects.set(key, bytes);
    if (what !== 'store') throw unavailable(this.name, 'put', { status: 503 });
  }

  async get(key: string): Promise<Uint8Array | null> {
    await Promise.resolve();
    if (this.onGet(key) === 'refuse') throw unavailable(this.name, 'get', { status: 503 });
    return this.objects.get(key) ?? null;
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    for (const key of [...this.objects.keys()].sort()) {
      await Promise.resolve();
      const bytes = this.objects.get(key);
      if (key.startsWith(prefix) && bytes !== undefined) yield { key, sizeBytes: bytes.length };
    }
  }

  delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(key);
    return Promise.resolve();
  }
}

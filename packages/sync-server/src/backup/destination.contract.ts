import { describe, expect, it } from 'vitest';
import type { Destination, StoredObject } from './destination.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function listed(destination: Destination, prefix: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const object of destination.list(prefix)) objects.push(object);
  return objects;
}

const textOf = async (destination: Destination, key: string): Promise<string> =>
  new TextDecoder().decode((await destination.get(key)) ?? bytes('missing'));

const keysOf = async (destination: Destination, prefix: string): Promise<string[]> =>
  (await listed(destination, prefix)).map(({ key }) => key);

export interface DestinationUnderTest {
  /** Opens the same destination each time within a test, and a different one in the next test. */
  readonly open: () => Destination;
  /** A destination that cannot be reached. */
  readonly breakNow: () => Destination;
  /** More keys than fit into one response. */
  readonly manyKeys: number;
}

/** The contract of every destination. */
export function describeDestination(name: string, { open, breakNow, manyKeys }: DestinationUnderTest): void {
  describe(`a destination: ${name}`, () => {
    it('stores objects, replaces them, and reports missing ones', async () => {
      const destination = open();
      expect(await destination.get('a/none')).toBeNull();
      await destination.put('a/b/c', bytes('first'));
      expect(await textOf(open(), 'a/b/c')).toBe('first');
      await destination.put('a/b/c', bytes('second, and longer'));
      expect(await textOf(open(), 'a/b/c')).toBe('second, and longer');
      expect(await listed(destination, '')).toEqual([{ key: 'a/b/c', sizeBytes: 18 }]);
    });

    it('stores objects of any size, including empty ones', async () => {
      const destination = open();
      const many = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2_654_435_761) >>> 24);
      for (const [key, content] of [
        ['none', new Uint8Array()],
        ['all', Uint8Array.from({ length: 256 }, (_, i) => i)],
        ['many', many],
      ] as const) {
        await destination.put(key, content);
        expect(Buffer.compare((await destination.get(key)) as Uint8Array, content)).toBe(0);
      }
    });

    it('lists the keys with a prefix in order, however many there are', async () => {
      const destination = open();
      const keys = Array.from({ length: manyKeys }, (_, i) => `many/${String(i).padStart(5, '0')}`);
      for (let done = 0; done < keys.length; done += 50)
        await Promise.all(keys.slice(done, done + 50).map((key) => destination.put(key, bytes('x'))));
      const others = ['databases/db-~a-1_b/1-x', 'databases/db-~a/2', 'databases/db-b/1', 'databases/members/1'];
      for (const key of [...others].reverse()) await destination.put(key, bytes('x'));
      expect(await keysOf(destination, 'many/')).toEqual(keys);
      expect(await keysOf(destination, 'databases/')).toEqual([...others].sort());
      expect(await keysOf(destination, 'databases/db-~a/')).toEqual(['databases/db-~a/2']);
      expect(await keysOf(destination, 'databases/db-')).toEqual([...others].sort().slice(0, 3));
      expect(await keysOf(destination, 'nothing/')).toEqual([]);
      await destination.delete([...keys, 'many/unknown']);
      expect(await keysOf(destination, 'many/')).toEqual([]);
      expect(await keysOf(destination, '')).toEqual([...others].sort());
    });

    it('reports by name that it is unreachable, without credentials', async () => {
      const broken = breakNow();
      const failures = await Promise.all([
        broken.put('a', bytes('x')).catch((error: unknown) => error),
        broken.get('a').catch((error: unknown) => error),
        keysOf(broken, '').catch((error: unknown) => error),
        broken.delete(['a']).catch((error: unknown) => error),
      ]);
      for (const [i, operation] of ['put', 'get', 'list', 'delete'].entries())
        expect(failures[i]).toMatchObject({
          code: 'backup-unavailable',
          fields: { destination: broken.name, operation },
        });
      expect(JSON.stringify(failures)).not.toContain('secret');
    });
  });
}

import { memoryMedium, openStorage, type Medium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import type { Persistence } from '../../rpc/persistence.ts';
import { chooseMedium, type Media } from './choose-medium.ts';

interface Browser {
  /** For each medium that cannot be used, the features that the browser lacks. */
  readonly missing?: Partial<Record<Persistence, readonly string[]>>;
  readonly isEphemeral?: boolean;
}

/** Media that keep their databases, as in a browser. Both file media share their files. */
function createMedia({ missing = {}, isEphemeral = false }: Browser = {}): Media {
  const files = memoryMedium();
  const indexedDb = memoryMedium();
  return {
    medium: async (persistence): Promise<Medium> => ({
      ...(persistence === 'indexeddb' ? indexedDb : files),
      missing: async () => missing[persistence] ?? [],
    }),
    isEphemeral: async () => isEphemeral,
  };
}

async function create(medium: Medium, name: string): Promise<void> {
  await (await openStorage({ name, medium, role: 'writer' })).close();
}

const chosen = async (media: Media): Promise<Persistence> =>
  (await chooseMedium('durable', 'budget', media)).persistence;

describe('the medium of an app that asks for durable storage', () => {
  it('is the best one that the browser supports', async () => {
    expect(await chosen(createMedia())).toBe('opfs');
    expect(await chosen(createMedia({ missing: { opfs: ['readwrite-unsafe access handles'] } }))).toBe(
      'opfs-exclusive',
    );
    expect(await chosen(createMedia({ missing: { opfs: ['files'], 'opfs-exclusive': ['files'] } }))).toBe('indexeddb');
  });

  it('is never memory: opening fails and reports what is missing', async () => {
    const media = createMedia({ missing: { opfs: ['a'], 'opfs-exclusive': ['b', 'c'], indexeddb: ['d'] } });
    await expect(chosen(media)).rejects.toMatchObject({
      code: 'storage-unsupported',
      fields: { missing: 'opfs: a; opfs-exclusive: b, c; indexeddb: d' },
    });
  });

  it('is not IndexedDB if a window refuses to keep files, because IndexedDB would be lost too', async () => {
    const media = createMedia({ isEphemeral: true, missing: { opfs: ['files'], 'opfs-exclusive': ['files'] } });
    await expect(chosen(media)).rejects.toMatchObject({ code: 'storage-ephemeral' });
    const failing: Media = {
      ...media,
      medium: async (persistence) => ({
        ...(await media.medium(persistence)),
        missing: () => Promise.reject(new Error('refused')),
      }),
    };
    await expect(chosen(failing)).rejects.toMatchObject({ code: 'storage-ephemeral' });
  });

  it('is not IndexedDB for a database that is already stored in files', async () => {
    const media = createMedia();
    await create(await media.medium('opfs'), 'budget');
    const asked: Persistence[] = [];
    expect(
      await chosen({ ...media, medium: (persistence) => (asked.push(persistence), media.medium(persistence)) }),
    ).toBe('opfs');
    expect(asked).toEqual(['opfs']);
  });

  it('stays IndexedDB for a database that is stored there, unless it is also stored in files', async () => {
    const media = createMedia();
    await create(await media.medium('indexeddb'), 'budget');
    expect(await chosen(media)).toBe('indexeddb');
    expect((await chooseMedium('durable', 'another', media)).persistence).toBe('opfs');
    await create(await media.medium('opfs'), 'budget');
    expect(await chosen(media)).toBe('opfs');
  });
});

it('a medium that an app names is used exactly, or opening fails', async () => {
  const media = createMedia({ isEphemeral: true });
  for (const persistence of ['opfs', 'opfs-exclusive', 'indexeddb', 'memory'] as const) {
    expect((await chooseMedium(persistence, 'budget', media)).persistence).toBe(persistence);
  }
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { missingForOpfs, opfsFile } from './opfs-directory.ts';

/**
 * The names of the origin's files. `clear` removes everything, as clearing a site's data does.
 */
class FakeOrigin {
  vfsCalls = 0;
  #folder: { readonly names: Set<string>; isThere: boolean } | undefined;

  getDirectory = async (): Promise<unknown> => {
    this.vfsCalls += 1;
    return { getDirectoryHandle: async () => this.#handleOf((this.#folder ??= { names: new Set(), isThere: true })) };
  };

  clear(): void {
    if (this.#folder !== undefined) this.#folder.isThere = false;
    this.#folder = undefined;
  }

  #handleOf(folder: { readonly names: Set<string>; readonly isThere: boolean }): unknown {
    return {
      getFileHandle: async (name: string, { create }: { create: boolean }) => {
        if (!folder.isThere || (!create && !folder.names.has(name))) throw new DOMException('gone', 'NotFoundError');
        folder.names.add(name);
        return { name };
      },
    };
  }
}

afterEach(() => vi.unstubAllGlobals());

describe('the directory of the databases', () => {
  it('is looked up once for many files, and again after the site data was cleared', async () => {
    const origin = new FakeOrigin();
    vi.stubGlobal('navigator', { storage: origin });
    await missingForOpfs();
    const askedAtFirst = origin.vfsCalls;
    await opfsFile('a', true);
    await opfsFile('b', true);
    expect(origin.vfsCalls).toBe(askedAtFirst);

    origin.clear();
    expect(await opfsFile('a', false)).toBeUndefined();
    expect(await opfsFile('a', true)).toEqual({ name: 'a' });
    origin.clear();
    expect(await opfsFile('a', true)).toEqual({ name: 'a' });
  });
});

import { describe, expect, it } from 'vitest';
import { openHandle } from './open-handle.ts';

function handle(): FileSystemSyncAccessHandle & { readonly isClosed: boolean } {
  const fake = { isClosed: false, close: () => (fake.isClosed = true) };
  return fake as unknown as ReturnType<typeof handle>;
}

const held = (): Promise<never> => Promise.reject(new DOMException('', 'NoModificationAllowedError'));

describe('an access handle', () => {
  it('opens as soon as another holder releases it', async () => {
    const free = handle();
    let tries = 0;
    const opened = await openHandle(() => {
      tries += 1;
      return tries < 4 ? held() : Promise.resolve(free);
    }, 10_000);
    expect(opened).toBe(free);
    expect(tries).toBe(4);
  });

  it('fails with storage-busy if it stays held until the deadline', async () => {
    await expect(openHandle(held, 30)).rejects.toMatchObject({
      code: 'storage-busy',
      fields: { holder: 'another access handle' },
    });
  });

  it('fails with storage-busy if the browser does not respond in time, and is closed if it opens late [CT-no-answer]', async () => {
    const late = handle();
    let answer: (handle: FileSystemSyncAccessHandle) => void = () => undefined;
    const opening = openHandle(() => new Promise((resolve) => (answer = resolve)), 30);
    await expect(opening).rejects.toMatchObject({
      code: 'storage-busy',
      fields: { reason: 'the browser did not answer' },
    });
    answer(late);
    await Promise.resolve();
    expect(late.isClosed).toBe(true);
  });

  it('fails at once for any other reason', async () => {
    await expect(openHandle(() => Promise.reject(new DOMException('', 'NotFoundError')), 10_000)).rejects.toMatchObject(
      { name: 'NotFoundError' },
    );
  });
});

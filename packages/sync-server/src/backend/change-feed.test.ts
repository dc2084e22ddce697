import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { followChanges } from './change-feed.ts';

describe('a feed of changes whose database goes offline', () => {
  const offline = new RockpoolError('database-unavailable');

  it('ends if the server closes', async () => {
    const stopped = new AbortController();
    const feed = followChanges(
      async () => {
        stopped.abort();
        throw offline;
      },
      null,
      stopped.signal,
    );
    expect(await feed.next()).toEqual({ done: true, value: undefined });
  });

  it('rejects otherwise', async () => {
    const feed = followChanges(() => Promise.reject(offline), null, new AbortController().signal);
    await expect(feed.next()).rejects.toBe(offline);
  });
});

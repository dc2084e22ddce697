import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { createSnapshotTaking, type SnapshotSource } from './snapshot-taking.ts';

const position = { logEpoch: new Uint8Array(16), watermark: 5, logHash: new Uint8Array(16) };

describe('taking snapshot files', () => {
  it('stops downloading after three files without a following delivery, until a delivery arrives', async () => {
    const calls: string[] = [];
    const source: SnapshotSource = {
      take: async () => {
        calls.push('take');
        return { position, path: 'snapshot' };
      },
      discard: async () => void calls.push('discard'),
    };
    let taken = Promise.withResolvers<void>();
    const taking = createSnapshotTaking({
      source,
      dispatch: () => taken.resolve(),
      onProblem: (error) => expect.unreachable(error.code),
    });
    const takeOne = async (): Promise<void> => {
      taken = Promise.withResolvers();
      taking.take(() => true);
      await taken.promise;
    };
    for (let file = 1; file <= 3; file++) await takeOne();
    expect(taking.offer).toEqual(position);
    await takeOne();
    expect(calls).toEqual(['take', 'take', 'take', 'discard']);
    expect(taking.offer).toBe('refused');
    taking.delivered();
    expect(taking.offer).toBe('accepted');
    await takeOne();
    expect(calls.at(-1)).toBe('take');
    taking.delivered();
    expect(taking.file).toBeNull();
    expect(calls.at(-1)).toBe('discard');
  });

  it('ends a download, its progress and its events when the connection ends', async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const cut = Promise.withResolvers<void>();
    const source: SnapshotSource = {
      async take({ onProgress }, signal) {
        onProgress({ receivedBytes: 100, totalBytes: 600 });
        started.resolve(signal);
        await cut.promise;
        onProgress({ receivedBytes: 200, totalBytes: 600 });
        throw new RockpoolError('network-unreachable');
      },
      discard: async () => expect.unreachable(),
    };
    const events: string[] = [];
    const taking = createSnapshotTaking({
      source,
      dispatch: ({ type }) => void events.push(type),
      onProblem: ({ code }) => void events.push(code),
    });
    let isConnected = true;
    taking.take(() => isConnected);
    const signal = await started.promise;
    expect(taking.progress).toEqual({ receivedBytes: 100, totalBytes: 600 });
    isConnected = false;
    taking.abort();
    expect([signal.aborted, taking.progress]).toEqual([true, null]);
    cut.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    expect([taking.progress, taking.offer, events]).toEqual([null, 'accepted', []]);
  });

  it('resumes a download that makes progress, however often the connection is cut', async () => {
    const calls: string[] = [];
    const source: SnapshotSource = {
      async take({ onProgress }) {
        calls.push('take');
        onProgress({ receivedBytes: calls.length * 100, totalBytes: 600 });
        if (calls.length < 6) throw new RockpoolError('network-unreachable');
        return { position, path: 'snapshot' };
      },
      discard: async () => void calls.push('discard'),
    };
    const events: string[] = [];
    const attempts = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
    const taking = createSnapshotTaking({
      source,
      dispatch: ({ type }) => attempts[events.push(type) - 1]?.resolve(),
      onProblem: (error) => expect.unreachable(error.code),
    });
    for (const { promise } of attempts) {
      taking.take(() => true);
      await promise;
    }
    expect(events).toEqual([...Array.from({ length: 5 }, () => 'failed'), 'snapshot-taken']);
    expect(calls).toEqual(Array.from({ length: 6 }, () => 'take'));
    expect(taking.offer).toEqual(position);
  });

  it('resumes the download of a file after a larger one was taken', async () => {
    const sizes = [600, 100, 200];
    let attempt = 0;
    const source: SnapshotSource = {
      async take({ onProgress }) {
        const receivedBytes = sizes[attempt++] ?? 0;
        onProgress({ receivedBytes, totalBytes: 600 });
        if (receivedBytes === 100) throw new RockpoolError('network-unreachable');
        return { position, path: 'snapshot' };
      },
      discard: async () => undefined,
    };
    const events: string[] = [];
    let ended = Promise.withResolvers<void>();
    const taking = createSnapshotTaking({
      source,
      dispatch: ({ type }) => {
        events.push(type);
        ended.resolve();
      },
      onProblem: ({ code }) => void events.push(code),
    });
    for (const _ of sizes) {
      ended = Promise.withResolvers();
      taking.take(() => true);
      await ended.promise;
    }
    expect(events).toEqual(['snapshot-taken', 'failed', 'snapshot-taken']);
  });
});

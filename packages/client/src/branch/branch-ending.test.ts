import { RockpoolError } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Client } from '../client.ts';
import { BranchEnding } from './branch-ending.ts';

const FAKED = ['Date', 'performance', 'setTimeout', 'clearTimeout'] as const;

beforeEach(() => void vi.useFakeTimers({ toFake: [...FAKED] }));
afterEach(() => void vi.useRealTimers());

it.each([-3_600_000, 3_600_000])(
  'the end of a branch that another tab keeps open waits for 15 s, also if the clock is set by %i ms',
  async (stepMs) => {
    let attempts = 0;
    const ending = new BranchEnding({
      branch: 'draft',
      start: { id: 'branch:1', sequence: 0, schemaHash: '', begunMs: 0 },
      client: { close: () => Promise.resolve() } as unknown as Client,
      deleteFile: () => (attempts++, Promise.reject(new RockpoolError('storage-busy'))),
      onProblem: () => undefined,
    });
    const outcomes: unknown[] = [];
    ending.end('discard').catch((error: unknown) => outcomes.push(error));
    await vi.advanceTimersByTimeAsync(1_000);
    vi.setSystemTime(Date.now() + stepMs);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(outcomes).toMatchObject([{ code: 'storage-busy' }]);
    expect(attempts).toBeGreaterThan(60);
  },
);

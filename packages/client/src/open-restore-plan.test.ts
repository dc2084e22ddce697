import { buildSchema, encodeWrittenRows } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testTable } from '../testing/worker/table-schema.ts';
import { openRestorePlan } from './open-restore-plan.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it.each([-3_600_000, 3_600_000])(
  'a restore plan waits 15 s for deliveries in flight, also if the clock is set by %i ms',
  async (stepMs) => {
    const history = { retainedDays: 1 };
    const schema = buildSchema([testTable('note', { id: 'text not null' }, { history })]);
    type Given = Parameters<typeof openRestorePlan>;
    const client = { query: async () => [{ cursor: 1 }] } as unknown as Given[0];
    const session = {
      call: async () => encodeWrittenRows({ upTo: 2, count: 1, rows: [] }),
    } as unknown as Given[1];
    const sync = { url: 'ws://server', databaseId: 'notes', token: () => null };
    const outcomes: unknown[] = [];
    openRestorePlan(
      client,
      session,
      { schema, sync },
      { selection: { version: 2 }, loadDocuments: () => Promise.reject(new Error('no documents')) },
    ).catch((error: unknown) => outcomes.push(error));
    await vi.advanceTimersByTimeAsync(1_000);
    vi.setSystemTime(Date.now() + stepMs);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(outcomes).toMatchObject([{ code: 'network-unreachable', fields: { stage: 'deliveries' } }]);
  },
);

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ErrorData } from '@rockpool/shared';
import { MEMORY_OPTIONS, memoryHost } from '../../testing/worker/memory-host.ts';
import type { TabApi } from '../rpc/worker-api.ts';
import type { WorkerEnvironment } from './worker-environment.ts';

const TAB = { onEvent: async () => undefined, token: async () => '' } as unknown as TabApi;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opening(part: Partial<WorkerEnvironment>): { readonly failure: () => ErrorData | null } {
  const host = memoryHost(part);
  let failure: ErrorData | null = null;
  host.open(MEMORY_OPTIONS, TAB).catch(({ code, fields }: ErrorData) => (failure = { code, fields } as ErrorData));
  return { failure: () => failure };
}

const never = (): Promise<never> => new Promise(() => undefined);

for (const [stage, withinMs, part] of [
  ['storage', 15_000, { chooseMedium: never }],
  ['code', 60_000, { loadSqlite: never }],
] as const)
  it(`opening fails with the name of the stage that does not complete: ${stage}`, async () => {
    const { failure } = opening(part);
    await vi.advanceTimersByTimeAsync(withinMs - 1);
    expect(failure()).toBe(null);
    await vi.advanceTimersByTimeAsync(1);
    expect(failure()).toEqual({ code: 'opening-stalled', fields: { stage, withinMs } });
  });

it('opening has no deadline once every stage has completed', async () => {
  const { failure } = opening({});
  await vi.advanceTimersByTimeAsync(120_000);
  expect(failure()).toBe(null);
});

import { RockpoolError } from '@rockpool/shared';
import { afterEach, expect, it } from 'vitest';
import { settle } from '../../testing/fake-tabs.ts';
import { openInMemory } from '../../testing/worker/test-database.ts';
import type { Transport } from '../rpc/transport.ts';
import type { OpenDatabase } from './database/open-database.ts';
import { startLeaderWork } from './leader-work.ts';
import type { LeaderStatus } from './leader/channel-message.ts';
import type { LeaderTools, LeaderWork } from './leader/leadership.ts';
import { startSync } from './sync/start-sync.ts';

interface Working {
  readonly work: LeaderWork;
  readonly frames: Uint8Array[];
  readonly statuses: Omit<LeaderStatus, 'readOnly'>[];
}

const running: { readonly work: LeaderWork; readonly database: OpenDatabase }[] = [];
afterEach(async () => {
  for (const { work, database } of running.splice(0)) {
    await work.stop();
    database.close();
  }
});

/** Starts the work of a leader whose medium stores commits asynchronously, with a server that answers nothing. */
function startWork(committed: () => Promise<void>): Working {
  const frames: Uint8Array[] = [];
  const transport: Transport = {
    connect(_url, { onOpen }) {
      queueMicrotask(onOpen);
      return { send: (frame) => void frames.push(frame), bufferedBytes: 0, close: () => undefined };
    },
  };
  const statuses: Omit<LeaderStatus, 'readOnly'>[] = [];
  const database = openInMemory();
  const tools: LeaderTools<OpenDatabase> = {
    database,
    committed,
    publishCommit: () => undefined,
    publishStatus: (status) => void statuses.push(status),
    publishProblem: ({ code }) => expect.unreachable(code),
    inTurn: (job) => job(),
  };
  const target = { url: 'ws://example.org', databaseId: 'budget' };
  const work = startLeaderWork(tools, (given) =>
    startSync({ target, transport, token: async () => 'token', tools: given, persistence: 'indexeddb' }),
  );
  running.push({ work, database });
  return { work, frames, statuses };
}

it('the work of a leader sends nothing before the medium has stored the earlier commits', async () => {
  const stored = Promise.withResolvers<void>();
  const { frames } = startWork(() => stored.promise);
  await settle();
  expect(frames).toEqual([]);
  stored.resolve();
  await settle();
  expect(frames).toHaveLength(1);
});

it('the work of a leader delays the next attempt if the medium has undone a delivery', async () => {
  const { work, statuses } = startWork(() => Promise.resolve());
  await settle();
  expect(statuses.at(-1)?.state).toBe('connecting');
  work.onRefused?.(new RockpoolError('storage-full'));
  expect(statuses.at(-1)).toMatchObject({
    state: 'blocked',
    reason: { code: 'storage-full', fields: { nextAttemptMs: expect.any(Number) as number } },
  });
});

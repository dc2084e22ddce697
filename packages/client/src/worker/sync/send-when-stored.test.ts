import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { sendWhenStored } from './send-when-stored.ts';
import type { ServerConnection } from './server-connection.ts';

interface World {
  readonly connection: ServerConnection;
  readonly sent: string[];
  readonly failed: ErrorData[];
  /** One for each message, in order. */
  readonly commits: PromiseWithResolvers<void>[];
  isClosed: boolean;
}

function createWorld(): World {
  const commits: PromiseWithResolvers<void>[] = [];
  const committed = (): Promise<void> => {
    const commit = Promise.withResolvers<void>();
    commits.push(commit);
    return commit.promise;
  };
  const world = { sent: [] as string[], failed: [] as ErrorData[], commits, isClosed: false };
  const connect = sendWhenStored(
    () => ({
      send: ({ type }) => void world.sent.push(type),
      bufferedBytes: 0,
      close: () => void (world.isClosed = true),
    }),
    committed,
  );
  const connection = connect('ws://server', {
    onOpen: () => undefined,
    onMessage: () => undefined,
    onFailed: (error) => world.failed.push(error),
  });
  return Object.assign(world, { connection });
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

it('a message is sent after earlier commits are stored, and messages keep their order', async () => {
  const { connection, sent, commits } = createWorld();
  connection.send({ type: 'ping' });
  connection.send({ type: 'confirm', cursor: 1, lastAckedSequence: 1 });
  commits[1]?.resolve();
  await settled();
  expect(sent).toEqual([]);
  commits[0]?.resolve();
  await settled();
  expect(sent).toEqual(['ping', 'confirm']);
});

it('a commit that is refused ends the connection, and no later message is sent', async () => {
  const { connection, sent, failed, commits } = createWorld();
  connection.send({ type: 'confirm', cursor: 1, lastAckedSequence: 1 });
  connection.send({ type: 'ping' });
  commits[1]?.resolve();
  commits[0]?.reject(new RockpoolError('storage-full'));
  await settled();
  expect(sent).toEqual([]);
  expect(failed.map(({ code }) => code)).toEqual(['storage-full']);
});

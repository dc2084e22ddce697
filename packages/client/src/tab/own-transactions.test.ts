import { RockpoolError } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Transaction } from '../interface/writes.ts';
import { OWN_WRITE_DEADLINE_MS, OwnTransactions } from './own-transactions.ts';
import { runTransaction, type TransactionBody } from './transaction.ts';

/**
 * Longer than every transaction here. All timers could include one of an earlier test file that always starts again.
 */
const ALL_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Acts as a worker that answers each step in a later task and holds other writes until the transaction ends. */
class World {
  readonly own = new OwnTransactions();
  readonly log: string[] = [];
  private readonly waiting: (() => void)[] = [];
  private isOpen = false;

  transaction<T>(name: string, body: TransactionBody<T>): Promise<T> {
    const source = {
      transact: async (_: string, ask: { readonly kind: string }) => {
        await later();
        if (ask.kind === 'begin') this.isOpen = true;
        if (ask.kind === 'rollback') this.end();
        return { changes: 0 };
      },
      commit: async () => {
        this.log.push(`${name} committed`);
        this.end();
      },
    };
    return this.own.write(() => runTransaction(source, name, body, {}, this.own));
  }

  write(name: string): Promise<void> {
    return this.own.write(async () => {
      if (this.isOpen) await new Promise<void>((resolve) => void this.waiting.push(resolve));
      this.log.push(name);
    });
  }

  private end(): void {
    this.isOpen = false;
    for (const go of this.waiting.splice(0)) go();
  }
}

const later = (ms = 10): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof RockpoolError ? error.code : String(error)),
  );
const step = async (tx: Transaction): Promise<void> => void (await tx.execute('step'));

describe('a write outside the open transaction', () => {
  const bodies: Record<string, (world: World, tx: Transaction) => Promise<unknown>> = {
    'at once': async (world) => world.write('beside'),
    'after a step': async (world, tx) => {
      await step(tx);
      await world.write('beside');
    },
    'together with a step': (world, tx) => Promise.all([step(tx), world.write('beside')]),
    'in a nested transaction': (world, tx) => tx.transaction(() => world.write('beside')),
    'as a transaction': (world) => world.transaction('inner', step),
  };

  it.each(Object.entries(bodies))('is refused if the body awaits it: %s', async (_, body) => {
    const world = new World();
    const ended = codeOf(world.transaction('outer', (tx) => body(world, tx)));
    await vi.advanceTimersByTimeAsync(OWN_WRITE_DEADLINE_MS + 100);
    expect(await ended).toBe('write-in-transaction');
    await vi.advanceTimersByTimeAsync(ALL_MS);
    expect(world.log).toEqual([]);
    await world.write('later');
    expect(world.log).toEqual(['later']);
  });

  it('waits if the body does not await it, and runs before later writes', async () => {
    const world = new World();
    const writes: Promise<void>[] = [];
    const ended = codeOf(
      world.transaction('outer', async (tx) => {
        await step(tx);
        writes.push(world.write('first'));
        for (let i = 0; i < 100; i++) await step(tx);
      }),
    );
    await vi.advanceTimersByTimeAsync(100);
    writes.push(world.write('second'));
    await vi.advanceTimersByTimeAsync(ALL_MS);
    expect(await ended).toBe('done');
    await Promise.all(writes);
    expect(world.log).toEqual(['outer committed', 'first', 'second']);
  });

  it('is never refused if it was issued outside the body, however long the body waits', async () => {
    const world = new World();
    const ended = codeOf(
      world.transaction('outer', async (tx) => {
        await step(tx);
        await later(3_000);
      }),
    );
    await vi.advanceTimersByTimeAsync(200);
    const handler = codeOf(world.write('handler'));
    await vi.advanceTimersByTimeAsync(ALL_MS);
    expect([await ended, await handler]).toEqual(['done', 'done']);
    expect(world.log).toEqual(['outer committed', 'handler']);
  });

  it('is named by the timeout error if its origin is unknown', async () => {
    const world = new World();
    const ended = world
      .transaction('outer', async () => {
        await later(200);
        await world.write('beside');
      })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(ALL_MS);
    expect(await ended).toMatchObject({ code: 'transaction-timeout', fields: { writesWaiting: 1 } });
  });
});

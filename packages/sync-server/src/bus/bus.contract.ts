import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus, BusMessage } from './bus.ts';
import { topicOf } from './bus-message.ts';

/** The contract of every bus. `make` returns two ends of one bus, or the same object twice if a bus cannot have two. */
export function busContract(name: string, make: () => Promise<readonly [Bus, Bus]>): void {
  let near: Bus;
  let far: Bus;

  beforeEach(async () => {
    [near, far] = await make();
  });
  afterEach(async () => {
    await near.close();
    await far.close();
  });

  /**
   * Publishes until both ends have received the message, because messages that are sent before an end listens may be
   * lost. Returns the messages that the far end received.
   */
  async function publishUntilReceived(message: BusMessage): Promise<BusMessage[]> {
    const received: BusMessage[] = [];
    let nearCount = 0;
    // Earlier repeated messages may still be in flight.
    const isMeant = (one: BusMessage): boolean => one.kind === message.kind && one.databaseId === message.databaseId;
    const stops = [
      far.subscribe(topicOf(message), (one) => void (isMeant(one) && received.push(one))),
      near.subscribe(topicOf(message), (one) => void (isMeant(one) && (nearCount += 1))),
    ];
    while (received.length === 0 || nearCount === 0) {
      near.publish(message);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const stop of stops) stop();
    return received;
  }

  describe(`the bus ${name}`, () => {
    it('delivers messages unchanged to the other instance', async () => {
      expect((await publishUntilReceived({ kind: 'commit', databaseId: 'a', head: 3 }))[0]).toEqual({
        kind: 'commit',
        databaseId: 'a',
        head: 3,
      });
      const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
      const traced = { kind: 'commit', databaseId: 'traced', head: 3, traceparent } as const;
      expect((await publishUntilReceived(traced))[0]).toEqual(traced);
      expect((await publishUntilReceived({ kind: 'members', databaseId: 'A-b_9' })).at(-1)).toEqual({
        kind: 'members',
        databaseId: 'A-b_9',
      });
    });

    it('delivers messages in order, to every listener, including the sender’s', async () => {
      const heads: number[][] = [[], [], []];
      [far, far, near].forEach((bus, i) =>
        bus.subscribe(
          { databaseId: 'a' },
          (message) => message.kind === 'commit' && message.head > 0 && heads[i]?.push(message.head),
        ),
      );
      // Messages sent before an end listens may be lost.
      await publishUntilReceived({ kind: 'commit', databaseId: 'a', head: 0 });
      for (let head = 1; head <= 50; head++) near.publish({ kind: 'commit', databaseId: 'a', head });
      while (heads.some((received) => received.at(-1) !== 50)) await new Promise((resolve) => setTimeout(resolve, 5));
      for (const received of heads) expect(received).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    });

    it('delivers nothing after a listener has unsubscribed', async () => {
      const received: BusMessage[] = [];
      far.subscribe('members', (message) => void received.push(message))();
      await publishUntilReceived({ kind: 'members', databaseId: 'a' });
      expect(received).toEqual([]);
    });

    it('delivers only messages of the topic', async () => {
      const received: BusMessage[] = [];
      far.subscribe({ databaseId: 'b' }, (message) => void received.push(message));
      await publishUntilReceived({ kind: 'commit', databaseId: 'a', head: 1 });
      await publishUntilReceived({ kind: 'members', databaseId: 'b' });
      await publishUntilReceived({ kind: 'commit', databaseId: 'b', head: 1 });
      expect(new Set(received.map((message) => JSON.stringify(message)))).toEqual(
        new Set([JSON.stringify({ kind: 'commit', databaseId: 'b', head: 1 })]),
      );
    });

    it('is connected after a message has arrived', async () => {
      await far.ready();
      await publishUntilReceived({ kind: 'members', databaseId: 'a' });
      expect(far.state).toMatchObject({ isConnected: true, reconnects: 0 });
    });
  });
}

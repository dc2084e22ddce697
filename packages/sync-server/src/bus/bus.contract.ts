import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus, BusMessage } from './bus.ts';

/** What every bus promises. `make` gives two ends of one bus: the same object, where it cannot have two. */
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
   * Publishes until both ends have heard it: what is sent before an end listens may be lost. Gives what the other end
   * heard.
   */
  async function hear(message: BusMessage): Promise<BusMessage[]> {
    const heard: BusMessage[] = [];
    let nearHeard = 0;
    // What was published again and again before may still be under way.
    const isMeant = (one: BusMessage): boolean => one.kind === message.kind && one.databaseId === message.databaseId;
    const stops = [
      far.subscribe((one) => void (isMeant(one) && heard.push(one))),
      near.subscribe((one) => void (isMeant(one) && (nearHeard += 1))),
    ];
    while (heard.length === 0 || nearHeard === 0) {
      near.publish(message);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const stop of stops) stop();
    return heard;
  }

  describe(`the bus ${name}`, () => {
    it('brings messages as they are to the other end', async () => {
      expect((await hear({ kind: 'commit', databaseId: 'a', head: 3 }))[0]).toEqual({
        kind: 'commit',
        databaseId: 'a',
        head: 3,
      });
      expect((await hear({ kind: 'members', databaseId: 'A-b_9' })).at(-1)).toEqual({
        kind: 'members',
        databaseId: 'A-b_9',
      });
    });

    it('brings them in order, to every listener, the sender’s too', async () => {
      await hear({ kind: 'commit', databaseId: 'a', head: 0 });
      const heads: number[][] = [[], [], []];
      [far, far, near].forEach((bus, i) =>
        bus.subscribe((message) => message.kind === 'commit' && message.head > 0 && heads[i]?.push(message.head)),
      );
      for (let head = 1; head <= 50; head++) near.publish({ kind: 'commit', databaseId: 'a', head });
      while (heads.some((heard) => heard.at(-1) !== 50)) await new Promise((resolve) => setTimeout(resolve, 5));
      for (const heard of heads) expect(heard).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    });

    it('tells nobody who has left', async () => {
      const heard: BusMessage[] = [];
      far.subscribe((message) => void heard.push(message))();
      await hear({ kind: 'members', databaseId: 'a' });
      expect(heard).toEqual([]);
    });
  });
}

import { expect, it } from 'vitest';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { Ownership } from './owner.ts';

it('a server stops copying after a later server has taken the destination', async () => {
  const destination = new MemoryDestination();
  let nowMs = 0;
  const [first, second] = ['first', 'second'].map((run) => new Ownership(destination, run, () => nowMs)) as [
    Ownership,
    Ownership,
  ];
  await first.require();
  await second.require();
  // The last check is less than 30 s old.
  await first.require();
  nowMs += 30_000;
  await second.require();
  for (let i = 0; i < 2; i++)
    await expect(first.require()).rejects.toMatchObject({
      code: 'backup-unavailable',
      fields: { operation: 'claim', problem: expect.stringContaining('another server copies') as string },
    });
  // The clock is set back.
  nowMs -= 3_600_000;
  await first.require().then(
    () => expect.unreachable(),
    (error: unknown) => expect(error).toMatchObject({ code: 'backup-unavailable' }),
  );
  // Another thread of the same run.
  await new Ownership(destination, 'second', () => nowMs).require();
});

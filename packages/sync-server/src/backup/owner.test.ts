import { expect, it } from 'vitest';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { Ownership } from './owner.ts';

it('a server stops copying after a later server has taken the destination', async () => {
  const destination = new MemoryDestination();
  let nowMs = 0;
  const [first, second] = ['first', 'second'].map(
    (run) =>
      new Ownership(
        destination,
        run,
        () => nowMs,
        () => false,
      ),
  ) as [Ownership, Ownership];
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
  await new Ownership(
    destination,
    'second',
    () => nowMs,
    () => false,
  ).require();
});

it('a server checks the destination again after a failure, however recent the last check was', async () => {
  const destination = new MemoryDestination();
  const ownership = new Ownership(
    destination,
    'run',
    () => 0,
    () => false,
  );
  await ownership.require();
  const contents = [...destination.objects];
  destination.objects.clear();
  await ownership.require();
  ownership.doubt();
  for (let i = 0; i < 2; i++)
    await expect(ownership.require()).rejects.toMatchObject({
      fields: { problem: expect.stringContaining('server.json is missing') as string },
    });
  for (const [key, bytes] of contents) destination.objects.set(key, bytes);
  await ownership.require();
});

it.each(['while a server copies', 'while it is stopped'])(
  'a server refuses a destination that lost its contents %s, such as a folder that is not mounted',
  async (when) => {
    const destination = new MemoryDestination();
    let nowMs = 0;
    const running = new Ownership(
      destination,
      'run',
      () => nowMs,
      () => false,
    );
    await running.require();
    const ownership =
      when === 'while a server copies'
        ? running
        : new Ownership(
            destination,
            'next',
            () => nowMs,
            () => true,
          );
    const contents = [...destination.objects];
    destination.objects.clear();
    nowMs += 30_000;
    for (const attempt of [() => ownership.require(), () => ownership.claim()])
      await expect(attempt()).rejects.toMatchObject({
        code: 'backup-unavailable',
        fields: { problem: expect.stringContaining('server.json is missing') as string },
      });
    expect(destination.objects.size).toBe(0);
    for (const [key, bytes] of contents) destination.objects.set(key, bytes);
    await ownership.require();
  },
);

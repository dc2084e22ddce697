import { expect, it } from 'vitest';
import { Outbox } from './outbox.ts';

it('the outbox of a thread posts all messages of one callback together, in order', async () => {
  const posted: (readonly number[])[] = [];
  const outbox = new Outbox<number>((messages) => posted.push(messages));
  outbox.add(1);
  outbox.add(2);
  expect([posted, outbox.last]).toEqual([[], 2]);
  await Promise.resolve();
  outbox.add(3);
  outbox.flush();
  await Promise.resolve();
  expect([posted, outbox.last]).toEqual([[[1, 2], [3]], undefined]);
});

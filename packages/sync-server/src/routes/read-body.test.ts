import { expect, it } from 'vitest';
import { readBody } from './read-body.ts';

/** A request whose body arrives in chunks of these sizes. */
function requestOf(...sizes: readonly number[]): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const size of sizes) controller.enqueue(new Uint8Array(size));
      controller.close();
    },
  });
  return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit);
}

it('the body of a request is limited as a whole, however small its chunks are', async () => {
  expect(await readBody(requestOf(4, 6), 10)).toHaveLength(10);
  await expect(readBody(requestOf(4, 6, 1), 10)).rejects.toMatchObject({
    code: 'frame-too-large',
    fields: { sizeBytes: 11, limitBytes: 10 },
  });
  expect(await readBody(new Request('http://localhost/', { method: 'POST' }), 10)).toHaveLength(0);
});

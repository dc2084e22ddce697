import { expect, it } from 'vitest';
import { withoutUnreadBody } from './head.ts';

it('the body of a response to HEAD is released, and that of another one is sent', async () => {
  const events: string[] = [];
  const respond = (method: string): Promise<Response> => {
    const body = new ReadableStream({ cancel: () => void events.push(method) }, { highWaterMark: 0 });
    return withoutUnreadBody(new Response(body, { status: 206, headers: { etag: '"1"' } }), method);
  };
  const response = await respond('HEAD');
  expect([response.status, response.headers.get('etag'), response.body]).toEqual([206, '"1"', null]);
  expect((await respond('GET')).body).not.toBeNull();
  expect(events).toEqual(['HEAD']);
});

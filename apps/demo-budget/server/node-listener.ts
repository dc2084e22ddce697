import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Lets a function from Request to Response, such as a Hono app's `fetch`, answer a Node HTTP server. */
export function nodeListener(answer: (request: Request) => Response | Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    const respond = async (): Promise<void> => {
      const address = `http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`;
      if (!URL.canParse(address)) {
        outgoing.writeHead(400).end();
        return;
      }
      const method = incoming.method ?? 'GET';
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const request = new Request(address, { method, ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}) });
      const response = await answer(request);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body === null || method === 'HEAD') {
        await response.body?.cancel();
        outgoing.end();
        return;
      }
      await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), outgoing);
    };
    respond().catch(() => {
      // A browser that left in the middle, or a fault of ours: in both cases there is nobody to tell but this socket.
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.destroy();
    });
  };
}

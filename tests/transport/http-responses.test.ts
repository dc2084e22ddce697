import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RockpoolError } from '#shared/index.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { httpTransport } from '#client/worker/sync/http-transport.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The URL of a server that answers in this way. */
async function urlOf(answer: Answer): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/sync`;
}

/** Opens a connection to a server that answers in this way. Returns the events and the error that ended it. */
async function connectionTo(
  answer: Answer,
): Promise<{ readonly events: readonly string[]; readonly error: RockpoolError }> {
  const events: string[] = [];
  const ended = Promise.withResolvers<RockpoolError>();
  httpTransport.connect(await urlOf(answer), {
    onOpen: () => events.push('open'),
    onFrame: () => events.push('frame'),
    onClosed: (error) => ended.resolve(error),
  });
  return { events, error: await ended.promise };
}

const json = (response: ServerResponse, body: string): void =>
  void response.writeHead(201, { 'content-type': 'application/json' }).end(body);

/** Opens the session; the given function answers all other requests. */
const withSession =
  (answer: (response: ServerResponse) => void) =>
  ({ url }: IncomingMessage, response: ServerResponse): void =>
    url === '/sync/sessions' ? json(response, '{"sessionId":"s"}') : answer(response);

describe('plain HTTP', () => {
  it('counts the frames of a request as unsent until the server has answered it', async () => {
    const posted = Promise.withResolvers<ServerResponse>();
    const opened = Promise.withResolvers<void>();
    const url = await urlOf((request, response) => {
      if (request.url === '/sync/sessions') json(response, '{"sessionId":"s"}');
      else if (request.method === 'POST') posted.resolve(response);
    });
    const connection = httpTransport.connect(url, {
      onOpen: opened.resolve,
      onFrame: () => expect.unreachable(),
      onClosed: (error) => expect.unreachable(error.code),
    });
    await opened.promise;
    connection.send(new Uint8Array(1_000));
    const response = await posted.promise;
    connection.send(new Uint8Array(20));
    expect(connection.bufferedBytes).toBe(1_020);
    response.writeHead(204).end();
    await expect.poll(() => connection.bufferedBytes).toBe(20);
    connection.close();
  });

  it('reports a response that is cut in its body as an unreachable network', async () => {
    const { events, error } = await connectionTo(
      withSession((response) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': 1_000 });
        response.write(new Uint8Array(10), () => response.destroy());
      }),
    );
    expect(events).toEqual(['open']);
    expect(error).toMatchObject({ code: 'network-unreachable', fields: { stage: 'http', status: 200 } });
  });

  it.each<[string, string]>([
    ['no JSON', 'Sign in to this network'],
    ['no session id', '{"ok":true}'],
    ['no object', 'null'],
  ])('does not open a session if the response contains %s', async (_, body) => {
    const { events, error } = await connectionTo((_request, response) => json(response, body));
    expect(events).toEqual([]);
    expect(error).toMatchObject({ code: 'network-unreachable', fields: { stage: 'http', status: 201 } });
  });

  it('reports a page of a proxy in place of frames as an unreachable network', async () => {
    const { error } = await connectionTo(
      withSession((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')),
    );
    expect(error).toMatchObject({ code: 'network-unreachable', fields: { stage: 'http', status: 200 } });
  });

  it('reports malformed frames of the server', async () => {
    const { error } = await connectionTo(
      withSession((response) =>
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Uint8Array.of(250, 1, 2)),
      ),
    );
    expect(error.code).toBe('frame-invalid');
  });
});

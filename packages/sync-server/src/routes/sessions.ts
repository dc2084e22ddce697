import { RockpoolError } from '@rockpool/shared';
import { readBody } from './read-body.ts';
import type { Route } from './route.ts';

/** An idle poll ends after this time, because proxies cut silent requests, usually after 30 or 60 s. */
const POLL_MS = 20_000;

const NO_STORE = { 'cache-control': 'no-store' };

/**
 * Handles the request here, or forwards it to the instance that has the session. The body is read only for a known
 * session.
 */
function ofSession(answer: Route['answer']): Route['answer'] {
  return async (asked) => {
    const { services, param, request } = asked;
    const sessionId = param('sessionId');
    if (services.httpSessions.has(sessionId)) return answer(asked);
    if (services.forwarding === null)
      throw new RockpoolError('request-invalid', { problem: 'the session does not exist' });
    return services.forwarding.forward(sessionId, request);
  };
}

/*
 * The protocol over plain HTTP, for networks that block WebSockets. The first frame is the hello, whose token
 * identifies the principal; the session id only identifies the connection, as a socket would.
 */

export const openSession: Route = {
  method: 'POST',
  path: '/sessions',
  access: 'public',
  answer: async ({ services, address }) => {
    await services.forwarding?.enter();
    return Response.json({ sessionId: services.httpSessions.open(address) }, { status: 201, headers: NO_STORE });
  },
};

/**
 * Receives frames. Body: frames, each prefixed with its length as a varint. `?sent=` is the number of frames that the
 * client has sent in this session before, see HttpSessions.receive. Responds once they are queued.
 */
export const sendFrames: Route = {
  method: 'POST',
  path: '/sessions/:sessionId',
  access: 'public',
  answer: ofSession(async ({ services, param, request }) => {
    const read = (limitBytes: number): Promise<Uint8Array> => readBody(request, limitBytes);
    await services.httpSessions.receive(param('sessionId'), read, countIn(request, 'sent'));
    return new Response(null, { status: 204, headers: NO_STORE });
  }),
};

/**
 * Waits for frames and returns them in the same format. `?received=` is the number of frames that the client has
 * received in this session, see HttpSessions.poll. The header `rockpool-close` gives the close code and reason if
 * the session has ended after them.
 */
export const pollFrames: Route = {
  method: 'GET',
  path: '/sessions/:sessionId',
  access: 'public',
  answer: ofSession(async ({ services, param, request }) => {
    const { frames, closed } = await services.httpSessions.poll(
      param('sessionId'),
      POLL_MS,
      countIn(request, 'received'),
    );
    const headers = {
      ...NO_STORE,
      'content-type': 'application/octet-stream',
      ...(closed !== null && { 'rockpool-close': `${closed.code} ${closed.reason}` }),
    };
    return new Response(frames as Uint8Array<ArrayBuffer>, { headers });
  }),
};

export const leaveSession: Route = {
  method: 'DELETE',
  path: '/sessions/:sessionId',
  access: 'public',
  answer: ofSession(({ services, param }) => {
    services.httpSessions.leave(param('sessionId'));
    return new Response(null, { status: 204, headers: NO_STORE });
  }),
};

/** Null from an older client. Throws `request-invalid`. */
function countIn({ url }: Request, name: 'received' | 'sent'): number | null {
  const count = new URL(url).searchParams.get(name);
  if (count !== null && !/^\d{1,15}$/.test(count))
    throw new RockpoolError('request-invalid', { problem: `the number of ${name} frames is not a whole number` });
  return count === null ? null : Number(count);
}

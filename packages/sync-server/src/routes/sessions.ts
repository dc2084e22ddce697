import { readBody } from './read-body.ts';
import type { Route } from './route.ts';

/** A poll that brings nothing ends after this: proxies cut what is silent for longer, usually after 30 or 60 s. */
const POLL_MS = 20_000;

/** Several frames of at most 256 KiB. */
const MAX_FRAMES_BYTES = 1024 * 1024;

/*
 * The protocol over plain HTTP, where WebSockets are blocked. The first frame is the hello, whose token says who it is:
 * the id of the session stands for the socket, not for a person.
 */

export const openSession: Route = {
  method: 'POST',
  path: '/sessions',
  access: 'public',
  answer: ({ services }) =>
    Response.json({ sessionId: services.httpSessions.open() }, { status: 201, headers: NOT_KEPT }),
};

/** Body: frames, each behind its length as a varint. Answered when they are taken in. */
export const sendFrames: Route = {
  method: 'POST',
  path: '/sessions/:sessionId',
  access: 'public',
  answer: async ({ services, param, request }) => {
    services.httpSessions.receive(param('sessionId'), await readBody(request, MAX_FRAMES_BYTES));
    return new Response(null, { status: 204, headers: NOT_KEPT });
  },
};

/**
 * Waits for frames, and answers them in the same form. `rockpool-close`: the session has ended behind them, and why.
 */
export const pollFrames: Route = {
  method: 'GET',
  path: '/sessions/:sessionId',
  access: 'public',
  answer: async ({ services, param }) => {
    const { frames, closed } = await services.httpSessions.poll(param('sessionId'), POLL_MS);
    const headers = {
      ...NOT_KEPT,
      'content-type': 'application/octet-stream',
      ...(closed !== null && { 'rockpool-close': `${closed.code} ${closed.reason}` }),
    };
    return new Response(frames as Uint8Array<ArrayBuffer>, { headers });
  },
};

export const leaveSession: Route = {
  method: 'DELETE',
  path: '/sessions/:sessionId',
  access: 'public',
  answer: ({ services, param }) => {
    services.httpSessions.leave(param('sessionId'));
    return new Response(null, { status: 204, headers: NOT_KEPT });
  },
};

const NOT_KEPT = { 'cache-control': 'no-store' };

import { RockpoolError, type ErrorFields } from '@rockpool/shared';
import type { SyncOptions } from '../interface/client-options.ts';

/** The part of a session that the source uses. */
export interface TokenSession {
  /** Receives `token-callback-failed`, with the thrown value as its `cause`. */
  readonly onProblem: (error: RockpoolError) => void;
  beforeClose(onEnd: () => void): void;
}

/** The characters of a bearer token (RFC 6750, 2.1). Error pages, JSON and text of several lines contain others. */
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * An HTML page: the sign-in page of a public network, a proxy's error page, or the app's start page at a path that no
 * token server handles. None of them comes from the app's token server, so a later request may succeed.
 */
const HTML_PAGE = /^\s*(?:<!--|<!doctype html|<html)/i;

/**
 * How long the callback may take; see SyncOptions.token. Sync has the same deadline. Reads of the history and of past
 * states rely on this one.
 */
const TOKEN_WITHIN_MS = 15_000;

/** The maximum number of errors that are examined in a chain of causes. */
const MAX_CAUSES = 5;

/**
 * Asks the app for a token and classifies failures:
 * - not signed in: `auth-signed-out`, or the `RockpoolError` that the callback threw
 * - the app's own server is unreachable, does not answer in time, reports trouble, or a different server responds with
 *   an HTML page: `network-unreachable` with the stage `token`
 * - the app's code failed: `token-callback-failed`. `onProblem` receives the error once, and again only after a token
 *   was received or a different error occurred
 *
 * A client that closes waits for no callback: its timer would keep a Node process alive.
 */
export function createTokenSource({ token }: Pick<SyncOptions, 'token'>, session: TokenSession): () => Promise<string> {
  let reported: string | null = null;
  const waits = new Set<Wait>();
  let isClosed = false;
  session.beforeClose(() => {
    isClosed = true;
    for (const { end } of waits) end();
  });

  return async () => {
    try {
      if (isClosed) throw unanswered();
      const answer = await inTime(async () => tokenOf(await token()), waits);
      reported = null;
      return answer;
    } catch (thrown) {
      const error = tokenError(thrown);
      if (error.code === 'token-callback-failed') {
        const kind = `${error.message} ${String(thrown)}`;
        if (kind !== reported) session.onProblem(error);
        reported = kind;
      }
      throw error;
    }
  };
}

interface Wait {
  readonly end: () => void;
}

async function inTime(ask: () => Promise<string>, waits: Set<Wait>): Promise<string> {
  const ended = Promise.withResolvers<never>();
  const timer = setTimeout(() => ended.reject(unanswered({ waitedMs: TOKEN_WITHIN_MS })), TOKEN_WITHIN_MS);
  const wait: Wait = { end: () => ended.reject(unanswered()) };
  waits.add(wait);
  try {
    return await Promise.race([ask(), ended.promise]);
  } finally {
    clearTimeout(timer);
    waits.delete(wait);
  }
}

/** Sync reports this reason to other tabs too, so it does not say that this client closes. */
function unanswered(fields: ErrorFields = {}): RockpoolError {
  return new RockpoolError('network-unreachable', { stage: 'token', ...fields });
}

async function tokenOf(answer: unknown): Promise<string> {
  if (answer === null) throw new RockpoolError('auth-signed-out', { stage: 'token' });
  if (isResponse(answer)) {
    if (!answer.ok) throw answer;
    return requireToken((await answer.text()).trim());
  }
  return requireToken(answer);
}

function requireToken(answer: unknown): string {
  if (typeof answer !== 'string')
    throw callbackFailed({ problem: 'the token is not a string', type: typeName(answer) });
  if (HTML_PAGE.test(answer))
    throw new RockpoolError('network-unreachable', { stage: 'token', problem: 'the response is an HTML page' });
  if (!BEARER_TOKEN.test(answer))
    throw callbackFailed(
      answer === ''
        ? { problem: 'the token is empty' }
        : { problem: 'the token is not a bearer token', characters: answer.length },
    );
  return answer;
}

/** Classifies a thrown value, or a `Response` that the callback returned. */
function tokenError(thrown: unknown): RockpoolError {
  if (thrown instanceof RockpoolError) return thrown;
  const status = statusOf(thrown);
  if (status === 401 || status === 403)
    return new RockpoolError('auth-signed-out', { stage: 'token', status }, { cause: thrown });
  if (status !== null && isServerTrouble(status))
    return new RockpoolError('network-unreachable', { stage: 'token', status }, { cause: thrown });
  if (status === null && causesOf(thrown).some(isNetworkFailure))
    return new RockpoolError('network-unreachable', { stage: 'token' }, { cause: thrown });
  return callbackFailed(
    { thrown: thrown instanceof Error ? thrown.name : typeName(thrown), ...(status === null ? {} : { status }) },
    thrown,
  );
}

function callbackFailed(fields: ErrorFields, cause?: unknown): RockpoolError {
  return new RockpoolError(
    'token-callback-failed',
    { stage: 'token', ...fields },
    cause === undefined ? {} : { cause },
  );
}

/** Timeout, too early, too many requests, or a server error: the same request may succeed later. */
function isServerTrouble(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
}

/**
 * Reads the HTTP status of a `Response`, or of an error of an HTTP library: `status`, `statusCode`, `response.status`.
 */
function statusOf(thrown: unknown): number | null {
  if (typeof thrown !== 'object' || thrown === null) return null;
  const { status, statusCode, response } = thrown as {
    readonly status?: unknown;
    readonly statusCode?: unknown;
    readonly response?: { readonly status?: unknown } | null;
  };
  const found = [status, statusCode, response?.status].find(
    (candidate) => typeof candidate === 'number' && candidate >= 100 && candidate <= 599,
  );
  return (found as number | undefined) ?? null;
}

function causesOf(thrown: unknown): unknown[] {
  const causes: unknown[] = [];
  for (
    let one = thrown;
    one !== undefined && one !== null && causes.length < MAX_CAUSES;
    one = (one as { readonly cause?: unknown }).cause
  )
    causes.push(one);
  return causes;
}

/**
 * The messages of the TypeErrors that each engine's `fetch` throws when it receives no response. A TypeError with any
 * other message is a fault in the app's code.
 */
const FETCH_FAILURES = [
  /^Failed to fetch/, // Chromium; also `import()` of a chunk
  /^network error/i, // Chromium, in the middle of a body
  /^NetworkError when attempting to fetch/, // Firefox
  /^error loading dynamically imported module/, // Firefox
  /^Load failed/, // Safari 16.4 and later
  /^Importing a module script failed/, // Safari
  /^The (network connection was lost|Internet connection appears to be offline)/, // Safari
  /^cancelled$/, // Safari, while the page is being left
  /^fetch failed$/, // undici: Node
  /^terminated$/, // undici, in the middle of a body
  /^Network request failed/, // polyfills over XMLHttpRequest
];

/** Names and codes that DOM APIs, Node and axios use for the same failure. */
const NETWORK_NAMES: ReadonlySet<unknown> = new Set(['AbortError', 'NetworkError', 'TimeoutError']);
const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_NETWORK',
  'ETIMEDOUT',
]);

function isNetworkFailure(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false;
  const { name, code, message } = thrown as {
    readonly name?: unknown;
    readonly code?: unknown;
    readonly message?: unknown;
  };
  if (NETWORK_NAMES.has(name) || NETWORK_CODES.has(code)) return true;
  return name === 'TypeError' && typeof message === 'string' && FETCH_FAILURES.some((words) => words.test(message));
}

/** Recognises a response by its members, because it may come from another realm or from a library. */
function isResponse(answer: unknown): answer is Response {
  if (typeof answer !== 'object' || answer === null) return false;
  const { ok, status, text } = answer as Partial<Response>;
  return typeof ok === 'boolean' && typeof status === 'number' && typeof text === 'function';
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

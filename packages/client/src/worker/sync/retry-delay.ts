import type { ErrorCode, ErrorData } from '@rockpool/shared';

/*
 * The delay before the next attempt, from the number of failures in a row. There are three schedules:
 *
 *   no connection             0 to 3 s, then 2.5 to 5 s; after about four minutes 5 to 10 s, 10 to 20 s, then 15 to 30 s
 *   the server answered       0.25 to 0.5 s, doubling up to 15 to 30 s
 *   only a person can help    30 to 60 s
 *
 * When a server dies and returns, all its clients reconnect together. The spread of the first retry and the even pace
 * of the later ones bound how many connect in one second. The pace bounds how long the server waits for them. Measured
 * in virtual time with 2,000 clients: docs/decisions/0055-nothing-waits-without-a-name.md. A `try-now` (the device is
 * online again, the page is visible again, the user asks) skips the delay.
 */

const LOST_FIRST_MS = 3_000;
const LOST_MS = 5_000;
/**
 * The number of failures in a row after which the delay grows. With an average delay of 3.75 s, they take about four
 * minutes.
 */
const LOST_EVEN_PACE = 60;

const ANSWERED_FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Failures that a retry is unlikely to fix, such as a rejected token or an incompatible schema, are retried slowly. */
export const CALM_RETRY_MS = 60_000;

/** `random` in [0, 1) spreads the attempts of many clients. */
export function retryDelayMs(trouble: ErrorData, failures: number, random: number): number {
  if (trouble.code === 'network-unreachable') {
    if (failures === 1) return LOST_FIRST_MS * random;
    return halfLeftToChance(Math.min(LONGEST_MS, LOST_MS * 2 ** Math.max(0, failures - LOST_EVEN_PACE)), random);
  }
  // An expired token is the normal end of a session: a new one is requested at once.
  if (trouble.code === 'auth-token-expired' && failures === 1) return 0;
  return halfLeftToChance(
    isTriedSoon(trouble) ? Math.min(LONGEST_MS, ANSWERED_FIRST_MS * 2 ** (failures - 1)) : CALM_RETRY_MS,
    random,
  );
}

function halfLeftToChance(fullMs: number, random: number): number {
  return fullMs * (0.5 + random / 2);
}

/**
 * Whether the first attempts follow quickly. Besides errors that a retry may fix, this holds for a copied file, which
 * continues as a new site, and for a failed token callback, which the client may have called too early.
 */
function isTriedSoon({ code, recovery, fields }: ErrorData): boolean {
  return (
    recovery === 'retry' ||
    code === 'token-callback-failed' ||
    (code === 'site-copied' && typeof fields['sequence'] === 'number')
  );
}

/** The server is reachable but cannot serve this database right now. */
const SERVER_TROUBLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'auth-unavailable',
  'database-damaged',
  'database-fetching',
  'database-unavailable',
  'rate-limited',
  'server-disk-full',
  'too-many-connections',
]);

export function isServerTrouble(code: ErrorCode): boolean {
  return SERVER_TROUBLE.has(code);
}

/** Whether the server still serves deliveries to a client whose push it has refused with this code. */
export function isRefusalOfPush(code: ErrorCode): boolean {
  return code === 'auth-forbidden' || code === 'quota-exceeded' || code === 'server-disk-full';
}

import type { TransferredError } from '../../rpc/error-transfer.ts';

/**
 * Which requests a leader has answered, for as long as they may be asked again. Two things need that:
 * what failed left nothing in the database, and might succeed on a second asking although its author has been told that
 * it failed; and a request waits for the one before it, which may have got lost on the way.
 */
export interface AnsweredRequests {
  add(requestId: string, refusal: TransferredError | null, latestStartMs: number): void;
  has(requestId: string): boolean;
  refusalOf(requestId: string): TransferredError | null;
}

/** So many are remembered whatever the clock says: set ahead, it would end their time at once. */
const LEAST_REMEMBERED = 1_000;

export function createAnsweredRequests(nowMs: () => number): AnsweredRequests {
  // In the order of answering, so that what is forgotten first stands first.
  const answersById = new Map<string, { readonly refusal: TransferredError | null; readonly latestStartMs: number }>();

  return {
    add(requestId, refusal, latestStartMs) {
      for (const [id, answer] of answersById) {
        if (answer.latestStartMs >= nowMs() || answersById.size < LEAST_REMEMBERED) break;
        answersById.delete(id);
      }
      answersById.set(requestId, { refusal, latestStartMs });
    },
    has: (requestId) => answersById.has(requestId),
    refusalOf: (requestId) => answersById.get(requestId)?.refusal ?? null,
  };
}

import type { TransferredError } from '../../rpc/error-transfer.ts';

/**
 * The requests that a leader has answered, for as long as they may be repeated. They serve two purposes. A failed
 * request leaves nothing in the database, so a repetition could succeed after its author has received the failure. And
 * a request waits for its predecessor, which may have been lost.
 */
export interface AnsweredRequests {
  add(requestId: string, refusal: TransferredError | null, attempt: number, latestStartMs: number): void;
  has(requestId: string): boolean;
  /** The refusal of this attempt. Another attempt may succeed. */
  refusalOf(requestId: string, attempt: number): TransferredError | null;
}

interface Answered {
  readonly refusal: TransferredError | null;
  readonly attempt: number;
  readonly latestStartMs: number;
}

/** At least this many are remembered regardless of the clock: a clock that is set ahead would expire them at once. */
const LEAST_REMEMBERED = 1_000;

export function createAnsweredRequests(nowMs: () => number): AnsweredRequests {
  // The Map keeps the order of the responses, so the first to expire comes first.
  const answersById = new Map<string, Answered>();

  return {
    add(requestId, refusal, attempt, latestStartMs) {
      for (const [id, answer] of answersById) {
        if (answer.latestStartMs >= nowMs() || answersById.size < LEAST_REMEMBERED) break;
        answersById.delete(id);
      }
      answersById.set(requestId, { refusal, attempt, latestStartMs });
    },
    has: (requestId) => answersById.has(requestId),
    refusalOf: (requestId, attempt) => {
      const answer = answersById.get(requestId);
      return answer?.attempt === attempt ? answer.refusal : null;
    },
  };
}

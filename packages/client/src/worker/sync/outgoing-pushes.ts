import { encodeChangesetBody, PUSH_BYTES, RockpoolError, type PushedChangeset } from '@rockpool/shared';

/** Changesets in order, and the hash of the one before them. */
export interface OutgoingPush {
  readonly previousHash: Uint8Array;
  /** See Push. */
  readonly olderEpochUpTo: number;
  readonly changesets: readonly PushedChangeset[];
}

/** What is sent, as the local database has it. */
export interface PushSource {
  position(): { readonly lastSequence: number };
  /** Changesets after `sequence`, up to about `maxBytes`, at least one if there is any; null when there is none. */
  nextPush(sequence: number, maxBytes: number): OutgoingPush | null;
  /** Makes all commits so far survive power loss. */
  flush(): void;
}

/** What the server has said of itself that decides what it can be asked. */
export interface PushPermission {
  readonly lastAckedSequence: number;
  readonly canWrite: boolean;
}

export interface OutgoingPushes {
  /** Sends what comes after `sequence`, as far as the window reaches. Returns the last that was sent, or `sequence`. */
  push(sequence: number): number;
  /**
   * Sends what this copy has after `sequence`, for the server to name the first changeset that it knows otherwise.
   * Where it may know all of them, one more is sent under a number that it has given to another: it cannot be taken,
   * but it is answered. Throws `site-copied` where the token allows reading only.
   */
  askWhatDiffers(sequence: number, welcome: PushPermission): void;
  /** Outcomes up to this one have come. */
  decided(upTo: number): void;
  /** The connection has ended, and what was on its way with it. */
  forget(): void;
}

/** Sent and not yet decided at most: enough to fill a connection, little enough to start over cheaply. */
const WINDOW_BYTES = 4 * PUSH_BYTES;

/** `send` returns false where there is no connection. */
export function createOutgoingPushes(source: PushSource, send: (batch: OutgoingPush) => boolean): OutgoingPushes {
  // Sizes of sent changesets that are not decided, by number.
  const inFlight = new Map<number, number>();
  let inFlightBytes = 0;

  return {
    push(sequence) {
      let sentUpTo = sequence;
      while (inFlightBytes < WINDOW_BYTES) {
        const batch = source.nextPush(sentUpTo, PUSH_BYTES);
        if (batch === null) break;
        // What the server knows of must not vanish here with a power cut: its number would be used again for something
        // else.
        source.flush();
        if (!send(batch)) break;
        for (const { sequence: sent, body } of batch.changesets) {
          inFlightBytes += body.length - (inFlight.get(sent) ?? 0);
          inFlight.set(sent, body.length);
          sentUpTo = sent;
        }
      }
      return sentUpTo;
    },

    askWhatDiffers(sequence, { lastAckedSequence, canWrite }) {
      const { lastSequence } = source.position();
      if (!canWrite) throw new RockpoolError('site-copied', { problem: 'the token allows reading only', lastSequence });
      let sentUpTo = sequence;
      for (;;) {
        const batch = source.nextPush(sentUpTo, PUSH_BYTES);
        if (batch === null) return;
        // As in `push`: the server may take what it does not know otherwise.
        source.flush();
        sentUpTo = batch.changesets.at(-1)?.sequence ?? Infinity;
        const isLast = sentUpTo >= lastSequence;
        send(
          isLast && lastAckedSequence > lastSequence
            ? { ...batch, changesets: [...batch.changesets, emptyAfter(batch.changesets)] }
            : batch,
        );
        if (isLast) return;
      }
    },

    decided(upTo) {
      // In the order in which they were sent.
      for (const [sequence, sizeBytes] of inFlight) {
        if (sequence > upTo) break;
        inFlight.delete(sequence);
        inFlightBytes -= sizeBytes;
      }
    },

    forget() {
      inFlight.clear();
      inFlightBytes = 0;
    },
  };
}

function emptyAfter(changesets: readonly PushedChangeset[]): PushedChangeset {
  const last = changesets.at(-1);
  const body = encodeChangesetBody({ atomic: false, groups: [], cellBases: [] });
  return {
    sequence: (last?.sequence ?? 0) + 1,
    stampUs: (last?.stampUs ?? 0) + 1,
    ageUs: last?.ageUs ?? 0,
    base: last?.base ?? 0,
    body,
  };
}

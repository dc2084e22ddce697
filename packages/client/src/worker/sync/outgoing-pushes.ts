import {
  encodeChangesetBody,
  PUSH_BYTES,
  RockpoolError,
  type EarlierSite,
  type PushedChangeset,
} from '@rockpool/shared';

/** Changesets in order, and the hash of the one before them. */
export interface OutgoingPush {
  readonly previousHash: Uint8Array;
  /** See Push. */
  readonly olderEpochUpTo: number;
  /** See Push. */
  readonly earlierSites?: readonly EarlierSite[];
  readonly changesets: readonly PushedChangeset[];
}

/** The local database as the source of pushes. */
export interface PushSource {
  position(): { readonly lastSequence: number };
  /** Changesets after `sequence`, up to about `maxBytes` but at least one; null if there is none. */
  nextPush(sequence: number, maxBytes: number): OutgoingPush | null;
  /** Makes all commits so far survive power loss. */
  flush(): void;
}

/** What the server's welcome states about pushes. */
export interface PushPermission {
  readonly lastAckedSequence: number;
  readonly canWrite: boolean;
}

export interface OutgoingPushes {
  /** Sends the changesets after `sequence` that fit into the window. Returns the last one sent, or `sequence`. */
  push(sequence: number): number;
  /**
   * Sends this copy's changesets after `sequence`, so that the server names the first one that differs. If the server
   * may know all of them, sends one more under a sequence that the server has seen from another copy: it cannot be
   * admitted but is answered. Throws `site-copied` if the token allows only reading.
   */
  askWhatDiffers(sequence: number, welcome: PushPermission): void;
  /** Called when outcomes up to this sequence have arrived. */
  decided(upTo: number): void;
  /** Called when the connection has ended. Changesets sent on it no longer count as sent. */
  forget(): void;
}

/**
 * Pushing pauses while this many bytes are sent but not acknowledged: enough to fill a connection, and few enough to
 * send again cheaply.
 */
const WINDOW_BYTES = 4 * PUSH_BYTES;

/** The first push of a connection is small, so that the server begins while the rest is read and packed. */
const FIRST_PUSH_BYTES = PUSH_BYTES / 16;

/** `send` returns false without a connection. */
export function createOutgoingPushes(source: PushSource, send: (batch: OutgoingPush) => boolean): OutgoingPushes {
  // By sequence, the sizes of sent changesets that are not decided.
  const inFlight = new Map<number, number>();
  let inFlightBytes = 0;
  let nextPushBytes = FIRST_PUSH_BYTES;

  return {
    push(sequence) {
      let sentUpTo = sequence;
      while (inFlightBytes < WINDOW_BYTES) {
        const batch = source.nextPush(sentUpTo, nextPushBytes);
        if (batch === null) break;
        // A changeset that the server has must survive a power cut here; otherwise its sequence would be reused for a
        // different one.
        source.flush();
        if (!send(batch)) break;
        nextPushBytes = Math.min(2 * nextPushBytes, PUSH_BYTES);
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
      if (!canWrite) throw new RockpoolError('site-copied', { problem: 'the token allows only reading', lastSequence });
      let sentUpTo = sequence;
      for (;;) {
        const batch = source.nextPush(sentUpTo, PUSH_BYTES);
        if (batch === null) return;
        // Otherwise the server could have a changeset that this file loses.
        source.flush();
        const last = batch.changesets.at(-1) as PushedChangeset;
        sentUpTo = last.sequence;
        // The server does not compare changesets above its last one; the last one is enough, because it differs.
        const isLast = sentUpTo >= Math.min(lastSequence, lastAckedSequence);
        send(
          isLast && lastAckedSequence > lastSequence
            ? { ...batch, changesets: [...batch.changesets, emptyAfter(last)] }
            : batch,
        );
        if (isLast) return;
      }
    },

    decided(upTo) {
      // The Map keeps the order of sending.
      for (const [sequence, sizeBytes] of inFlight) {
        if (sequence > upTo) break;
        inFlight.delete(sequence);
        inFlightBytes -= sizeBytes;
      }
    },

    forget() {
      inFlight.clear();
      inFlightBytes = 0;
      nextPushBytes = FIRST_PUSH_BYTES;
    },
  };
}

function emptyAfter({ sequence, stampUs, ageUs, base }: PushedChangeset): PushedChangeset {
  const body = encodeChangesetBody({ atomic: false, groups: [], cellBases: [] });
  return { sequence: sequence + 1, stampUs: stampUs + 1, ageUs, base, body };
}
